package import Postgres

// What an audit compares in addition, and what a repair takes away before it writes rows anew.
extension Statement {
    package static let clearCustomers = Statement(
        name: "clear_customers", embedded: PackageResources.clear_customers_sql)
    package static let clearOrphans = Statement(
        name: "clear_orphans", embedded: PackageResources.clear_orphans_sql)
    package static let clearHolders = Statement(
        name: "clear_holders", embedded: PackageResources.clear_holders_sql)
    package static let clearOrderOwners = Statement(
        name: "clear_order_owners", embedded: PackageResources.clear_order_owners_sql)
    package static let clearTokens = Statement(
        name: "clear_tokens", embedded: PackageResources.clear_tokens_sql)
    package static let clearTokensOf = Statement(
        name: "clear_tokens_of", embedded: PackageResources.clear_tokens_of_sql)
    package static let clearCarriedTokensOf = Statement(
        name: "clear_carried_tokens_of", embedded: PackageResources.clear_carried_tokens_of_sql)
    package static let clearProject = Statement(
        name: "clear_project", embedded: PackageResources.clear_project_sql)
    package static let restoreTokens = Statement(
        name: "restore_tokens", embedded: PackageResources.restore_tokens_sql)
    package static let auditUnclaimed = Statement(
        name: "audit_unclaimed", embedded: PackageResources.audit_unclaimed_sql)
    package static let auditUnclaimedTokens = Statement(
        name: "audit_unclaimed_tokens", embedded: PackageResources.audit_unclaimed_tokens_sql)
    package static let auditWaitingCredits = Statement(
        name: "audit_waiting_credits", embedded: PackageResources.audit_waiting_credits_sql)
    package static let walkUnclaimed = Statement(
        name: "walk_unclaimed", embedded: PackageResources.walk_unclaimed_sql)
    package static let walkUnclaimedTokens = Statement(
        name: "walk_unclaimed_tokens", embedded: PackageResources.walk_unclaimed_tokens_sql)
    package static let sampleUnclaimed = Statement(
        name: "sample_unclaimed", embedded: PackageResources.sample_unclaimed_sql)
    package static let sampleUnclaimedTokens = Statement(
        name: "sample_unclaimed_tokens", embedded: PackageResources.sample_unclaimed_tokens_sql)
    package static let auditCarriedTokens = Statement(
        name: "audit_carried_tokens", embedded: PackageResources.audit_carried_tokens_sql)
    package static let walkCarriedTokens = Statement(
        name: "walk_carried_tokens", embedded: PackageResources.walk_carried_tokens_sql)
    package static let sampleCarriedTokens = Statement(
        name: "sample_carried_tokens", embedded: PackageResources.sample_carried_tokens_sql)
    package static let listClaimable = Statement(
        name: "list_claimable", embedded: PackageResources.list_claimable_sql)
    package static let unprojectUnclaimedTokens = Statement(
        name: "unproject_unclaimed_tokens",
        embedded: PackageResources.unproject_unclaimed_tokens_sql)
}
