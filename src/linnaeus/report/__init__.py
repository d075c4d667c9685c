"""Reports for people: one HTML file that opens anywhere, prints well and asks no network."""

from linnaeus.report.page import render_report, write_report

__all__ = ["render_report", "write_report"]
