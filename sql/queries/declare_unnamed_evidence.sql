declare unnamed_evidence no scroll cursor with hold for
select digest from deed.evidence
except
select evidence from deed.events where evidence is not null
