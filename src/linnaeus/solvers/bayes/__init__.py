"""Posteriors of weights along a hierarchy: HBLR and the correlated multinomial logit."""
