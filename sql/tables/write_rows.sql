-- Unnests row by row, as in insert_events. {conflict} says what to do with an existing row.
insert into {schema}.{table} as known ({columns})
select {values}
{conflict}
