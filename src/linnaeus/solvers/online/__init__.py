"""One example at a time: Perceptrons and Hieron."""
