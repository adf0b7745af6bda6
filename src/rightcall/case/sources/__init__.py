"""Cases from the answer files of public benchmarks, one module each."""
