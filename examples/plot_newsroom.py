"""
Classify news stories into a taxonomy
=====================================

A linear model per node scores each story; different decisions turn the same scores into label
sets. All of them answer sets that respect the hierarchy, or are made to.
"""

from pathlib import Path

from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from linnaeus.decisions import ClosedArgmax, InstanceCut, SCut, TopDownConsistent
from linnaeus.metrics import evaluate
from linnaeus.synthetic import newsroom
from linnaeus.text import TfidfVectorizer

# %%
# The data: stories with their most specific labels. A model per node wants closed label sets.

news = newsroom(n_train=800, n_test=400, random_state=0)
taxonomy = news.taxonomy
own = news.Y("train")
Y_train, Y_test = taxonomy.closure(own), taxonomy.closure(news.Y("test"))

# %%
# Three decisions around the same scikit-learn model.

svm = OneVsRestClassifier(LinearSVC())
decisions = {
    "best closed set": ClosedArgmax(svm, taxonomy, shift="fit", random_state=0),
    "a threshold per class": TopDownConsistent(svm, taxonomy, SCut(), random_state=0),
    "a threshold per story": TopDownConsistent(svm, taxonomy, InstanceCut(), random_state=0),
}
reports = {}
for name, decision in decisions.items():
    model = make_pipeline(TfidfVectorizer(stop_words="english"), decision)
    predicted = model.fit(news.train.texts, Y_train).predict(news.test.texts)
    reports[name] = evaluate(taxonomy, Y_test, predicted, train_counts=own.sum(axis=0))
    print(f"{name:24} hierarchical F1 {reports[name]['hierarchical_f1']:.3f}")

# %%
# A report prints, and it draws.

folder = Path(globals().get("IMAGES", "."))
reports["best closed set"].plot(folder / "newsroom.png")
