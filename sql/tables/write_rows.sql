-- Row by row, as in insert_events. {conflict} is what happens where a row is already there.
insert into {schema}.{table} as known ({columns})
select {values}
{conflict}
