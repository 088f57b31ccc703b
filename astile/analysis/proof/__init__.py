"""Whether a program computes what the original does: dataflow, compared, with witnesses."""
