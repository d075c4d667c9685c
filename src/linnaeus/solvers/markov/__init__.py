"""Max-margin Markov models: all labels of an example at once, over a hierarchy or a graph."""
