"""The engine: equations written once, traced into straight-line programs, run everywhere.

It knows no robot. It is given functions of numbers, a state and inputs (`functions`), numbers as trees
(`tree`), and runs them:

    trace       the function on symbols (`graph`) becomes a program (`program`)
    operations  all that is known of an operation: value, derivative, NumPy, LLVM, C, CasADi
    passes      derivatives; and for LLVM: fused operations, order, halves of a loop, registers
    emit        programs as text for LLVM (`llvm`), as C (`c`), as a CasADi function (`casadi`)
    run         programs over rows of states: compiled or on NumPy, in threads, in loops, from a cache
"""
