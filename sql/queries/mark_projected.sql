-- $1 project, $2 catalog version
update {schema}.projects set projected_version = $2::bigint
where project = $1::text and projected_version < $2::bigint
