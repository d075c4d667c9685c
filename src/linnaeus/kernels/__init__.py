"""Similarity of inputs: kernels of vectors, strings, words and syllables.

Every kernel has ``gram(A, B=None)``; kernels add, multiply and normalise.
"""

from linnaeus.kernels.alignment import (
    align,
    alignment_weights,
    induced_class_kernel,
    rank_kernels,
)
from linnaeus.kernels.base import Kernel, Multiple, Product, Sum
from linnaeus.kernels.gram import Pairs
from linnaeus.kernels.linear import LinearKernel
from linnaeus.kernels.normal import Normalized, normalize
from linnaeus.kernels.spectrum import SpectrumKernel
from linnaeus.kernels.subsequence import SubsequenceKernel
from linnaeus.kernels.words import (
    BagOfWordsKernel,
    SyllableSequenceKernel,
    WordSequenceKernel,
    syllables,
)

__all__ = [
    "BagOfWordsKernel",
    "Kernel",
    "LinearKernel",
    "Multiple",
    "Normalized",
    "Pairs",
    "Product",
    "SpectrumKernel",
    "SubsequenceKernel",
    "Sum",
    "SyllableSequenceKernel",
    "WordSequenceKernel",
    "align",
    "alignment_weights",
    "induced_class_kernel",
    "normalize",
    "rank_kernels",
    "syllables",
]
