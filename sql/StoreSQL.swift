package import Postgres

// What is asked of stores, and with what.
extension Statement {
    package static let findCredentials = Statement(
        name: "find_credentials", embedded: PackageResources.find_credentials_sql)
    package static let putCredentials = Statement(
        name: "put_credentials", embedded: PackageResources.put_credentials_sql)
    package static let removeCredentials = Statement(
        name: "remove_credentials", embedded: PackageResources.remove_credentials_sql)
    package static let findRealStore = Statement(
        name: "find_real_store", embedded: PackageResources.find_real_store_sql)
    package static let takeStoreBudget = Statement(
        name: "take_store_budget", embedded: PackageResources.take_store_budget_sql)
    package static let restStoreBudget = Statement(
        name: "rest_store_budget", embedded: PackageResources.rest_store_budget_sql)
}
