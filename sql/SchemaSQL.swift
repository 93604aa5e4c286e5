package import Postgres

// How the schema is made, what it is, and who reaches it.
extension Statement {
    package static let migrationSchema = Statement(
        name: "migration_schema", embedded: PackageResources.migration_schema_sql)
    package static let migrationTable = Statement(
        name: "migration_table", embedded: PackageResources.migration_table_sql)
    package static let migrationRole = Statement(
        name: "migration_role", embedded: PackageResources.migration_role_sql)
    package static let migrationLock = Statement(
        name: "migration_lock", embedded: PackageResources.migration_lock_sql)
    package static let migrationRecord = Statement(
        name: "migration_record", embedded: PackageResources.migration_record_sql)
    package static let migrationsApplied = Statement(
        name: "migrations_applied", embedded: PackageResources.migrations_applied_sql)
    package static let migrationsExist = Statement(
        name: "migrations_exist", embedded: PackageResources.migrations_exist_sql)
    package static let describeSchema = Statement(
        name: "describe_schema", embedded: PackageResources.describe_schema_sql)
    package static let describePlainly = Statement(
        name: "describe_plainly", embedded: PackageResources.describe_plainly_sql)
    package static let narrowTemporary = Statement(
        name: "narrow_temporary", embedded: PackageResources.narrow_temporary_sql)
    package static let nameServiceLogin = Statement(
        name: "name_service_login", embedded: PackageResources.name_service_login_sql)
    package static let closeDatabase = Statement(
        name: "close_database", embedded: PackageResources.close_database_sql)
    package static let seeStandbys = Statement(
        name: "see_standbys", embedded: PackageResources.see_standbys_sql)
}

/// The schema as the migrations make it, a line for each aspect of each object.
package let schemaList = String(decoding: PackageResources.schema_txt, as: UTF8.self)
