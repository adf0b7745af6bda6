"""The one view model of every report, and how it is made from the results of a run."""
