"""Models on disk: a directory of plain data, read without running anything that it holds."""

from linnaeus.storage.directory import check_target, folder_of, load, read_about, save

__all__ = ["check_target", "folder_of", "load", "read_about", "save"]
