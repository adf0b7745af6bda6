"""What a run reads: settings made a plan, traces, cases, catalogs; what must not leave is hidden here."""
