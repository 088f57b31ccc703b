"""Machine code as text: instructions, loops, and the main loop."""

from __future__ import annotations

from astile.analysis.counts import sass

TEXT = """
.text.kernel:
.L_x_0:
        //## File "/tmp/kernel.py", line 4
        /*0000*/                   S2R R0, SR_TID.X ;
.L_x_2:
        //## File "/tmp/kernel.py", line 7
        /*0010*/                   IADD3 R2, P0, R2, 0x20, RZ ;
.L_x_1:
        //## File "/tmp/kernel.py", line 9
        /*0020*/                   LDS.128 R4, [R3] ;
        /*0030*/              @!PT LDS RZ, [RZ] ;
        /*0040*/                   LDG.E.128.CONSTANT R8, desc[UR4][R2.64] ;
        /*0050*/                   IMAD.MOV.U32 R9, RZ, RZ, R8 ;
        /*0060*/                   FFMA R10, R4, R8, R10 ;
        /*0070*/                   FFMA.FTZ R11, R5, R8, R11 ;
        /*0080*/              @!P0 BRA `(.L_x_1) ;
        //## File "/tmp/kernel.py", line 7
        /*0090*/               @P1 BRA `(.L_x_2) ;
        /*00a0*/                   STL.64 [R1+0x8], R10 ;
        /*00b0*/                   EXIT ;
.L_x_3:
        /*00c0*/                   BRA `(.L_x_3);
"""


def test_the_main_loop_is_the_innermost_with_most_arithmetic() -> None:
    code = sass.parse(TEXT)
    assert len(code.loops) == 2  # a branch to itself pads the end
    body = code.main_loop()
    assert sass.mix_of(body) == {
        "FFMA": 2, "LDS.128": 1, "LDG.128": 1, "IMAD.MOV": 1, "BRA": 1,
    }  # fmt: skip
    assert {each.line for each in body} == {9}


def test_moves_and_integers_are_overhead() -> None:
    assert sass.overhead({"FFMA": 9, "IMAD.MOV": 2, "MOV": 1, "LDS.128": 4, "IADD3": 3}) == 6


def test_stores_to_local_memory_are_counted_in_bytes() -> None:
    assert sass.parse(TEXT).local_bytes() == 8


def test_code_without_loops() -> None:
    code = sass.parse("        /*0000*/                   EXIT ;")
    assert code.main_loop() == ()
    assert sass.mix_of(code.main_loop()) == {}
