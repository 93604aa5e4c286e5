delete from {schema}.{table} as t
using unnest({arrays}) as gone ({by})
where ({match}) = ({gone})
