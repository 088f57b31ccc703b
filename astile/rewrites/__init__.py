"""Program to Program, one primitive a file."""
