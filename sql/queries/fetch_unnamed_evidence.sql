fetch forward 1000 from unnamed_evidence
