"""A program in other languages: LLVM, C, CasADi."""
