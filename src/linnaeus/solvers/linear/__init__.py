"""One set of weights per class, or one choice among all classes: SVM, logistic, softmax, ridge."""
