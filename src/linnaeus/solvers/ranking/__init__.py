"""Labels above other classes, by a margin that grows with the loss."""
