package import Postgres

/// A step of the schema. A released one is never edited.
package struct Migration: Sendable {
    package let number: Int64
    package let name: String
    package let script: Script

    /// Every migration that this binary knows, in order.
    package static let all = [
        Migration(
            number: 1, name: "0001_baseline",
            script: Script(embedded: PackageResources._001_baseline_sql))
    ]
}

/// The files of `queries`, each one statement with its binds listed on top.
extension Statement {
    package static let begin = Statement(name: "begin", embedded: PackageResources.begin_sql)
    package static let lookAtServer = Statement(
        name: "look_at_server", embedded: PackageResources.look_at_server_sql)
    package static let identifyServer = Statement(
        name: "identify_server", embedded: PackageResources.identify_server_sql)
    package static let findRoot = Statement(
        name: "find_root", embedded: PackageResources.find_root_sql)
    package static let listShortfalls = Statement(
        name: "list_shortfalls", embedded: PackageResources.list_shortfalls_sql)
    package static let noteLostEnds = Statement(
        name: "note_lost_ends", embedded: PackageResources.note_lost_ends_sql)
    package static let forgetLostEnds = Statement(
        name: "forget_lost_ends", embedded: PackageResources.forget_lost_ends_sql)
    package static let listAcceptances = Statement(
        name: "list_acceptances", embedded: PackageResources.list_acceptances_sql)
    package static let readClock = Statement(
        name: "read_clock", embedded: PackageResources.read_clock_sql)
    package static let findFreeShards = Statement(
        name: "find_free_shards", embedded: PackageResources.find_free_shards_sql)
    package static let tryRoom = Statement(
        name: "try_room", embedded: PackageResources.try_room_sql)
    package static let commit = Statement(name: "commit", embedded: PackageResources.commit_sql)
    package static let rollback = Statement(
        name: "rollback", embedded: PackageResources.rollback_sql)

    package static let lockShards = Statement(
        name: "lock_shards", embedded: PackageResources.lock_shards_sql)
    package static let loadStreams = Statement(
        name: "load_streams", embedded: PackageResources.load_streams_sql)
    package static let readStreams = Statement(
        name: "read_streams", embedded: PackageResources.read_streams_sql)
    package static let loadVersions = Statement(
        name: "load_versions", embedded: PackageResources.load_versions_sql)
    package static let loadHolders = Statement(
        name: "load_holders", embedded: PackageResources.load_holders_sql)
    package static let loadTokens = Statement(
        name: "load_tokens", embedded: PackageResources.load_tokens_sql)
    package static let claimPurchases = Statement(
        name: "claim_purchases", embedded: PackageResources.claim_purchases_sql)
    package static let movePurchases = Statement(
        name: "move_purchases", embedded: PackageResources.move_purchases_sql)
    package static let insertEvents = Statement(
        name: "insert_events", embedded: PackageResources.insert_events_sql)
    package static let advanceShards = Statement(
        name: "advance_shards", embedded: PackageResources.advance_shards_sql)

    package static let projectCustomers = Statement(
        name: "project_customers", embedded: PackageResources.project_customers_sql)
    package static let reprojectCustomers = Statement(
        name: "reproject_customers", embedded: PackageResources.reproject_customers_sql)
    package static let projectPurchases = Statement(
        name: "project_purchases", embedded: PackageResources.project_purchases_sql)
    package static let unprojectPurchases = Statement(
        name: "unproject_purchases", embedded: PackageResources.unproject_purchases_sql)
    package static let projectBalances = Statement(
        name: "project_balances", embedded: PackageResources.project_balances_sql)
    package static let projectOrders = Statement(
        name: "project_orders", embedded: PackageResources.project_orders_sql)
    package static let eraseCustomers = Statement(
        name: "erase_customers", embedded: PackageResources.erase_customers_sql)
    package static let projectProjects = Statement(
        name: "project_projects", embedded: PackageResources.project_projects_sql)
    package static let projectKeys = Statement(
        name: "project_keys", embedded: PackageResources.project_keys_sql)
    package static let projectOrderOwners = Statement(
        name: "project_order_owners", embedded: PackageResources.project_order_owners_sql)
    package static let projectTokens = Statement(
        name: "project_tokens", embedded: PackageResources.project_tokens_sql)
    package static let projectApps = Statement(
        name: "project_apps", embedded: PackageResources.project_apps_sql)
    package static let unprojectApps = Statement(
        name: "unproject_apps", embedded: PackageResources.unproject_apps_sql)

    package static let guardTokens = Statement(
        name: "guard_tokens", embedded: PackageResources.guard_tokens_sql)
    package static let awaitTokens = Statement(
        name: "await_tokens", embedded: PackageResources.await_tokens_sql)
    package static let awaitFreeTokens = Statement(
        name: "await_free_tokens", embedded: PackageResources.await_free_tokens_sql)
    package static let loadUnclaimed = Statement(
        name: "load_unclaimed", embedded: PackageResources.load_unclaimed_sql)
    package static let loadCarried = Statement(
        name: "load_carried", embedded: PackageResources.load_carried_sql)
    package static let carryTokens = Statement(
        name: "carry_tokens", embedded: PackageResources.carry_tokens_sql)
    package static let dropCarriedTokens = Statement(
        name: "drop_carried_tokens", embedded: PackageResources.drop_carried_tokens_sql)
    package static let forgetCarriedTokens = Statement(
        name: "forget_carried_tokens", embedded: PackageResources.forget_carried_tokens_sql)
    package static let projectUnclaimed = Statement(
        name: "project_unclaimed", embedded: PackageResources.project_unclaimed_sql)
    package static let unprojectUnclaimed = Statement(
        name: "unproject_unclaimed", embedded: PackageResources.unproject_unclaimed_sql)
    package static let listUnclaimed = Statement(
        name: "list_unclaimed", embedded: PackageResources.list_unclaimed_sql)
    package static let countUnclaimed = Statement(
        name: "count_unclaimed", embedded: PackageResources.count_unclaimed_sql)
    package static let projectWaitingCredits = Statement(
        name: "project_waiting_credits", embedded: PackageResources.project_waiting_credits_sql)
    package static let listWaitingCredits = Statement(
        name: "list_waiting_credits", embedded: PackageResources.list_waiting_credits_sql)
    package static let unprojectWaitingCredits = Statement(
        name: "unproject_waiting_credits", embedded: PackageResources.unproject_waiting_credits_sql)

    package static let insertCertificates = Statement(
        name: "insert_certificates", embedded: PackageResources.insert_certificates_sql)
    package static let insertEvidence = Statement(
        name: "insert_evidence", embedded: PackageResources.insert_evidence_sql)
    package static let lookUpEvidence = Statement(
        name: "look_up_evidence", embedded: PackageResources.look_up_evidence_sql)
    package static let listEvidence = Statement(
        name: "list_evidence", embedded: PackageResources.list_evidence_sql)
    package static let listCertificates = Statement(
        name: "list_certificates", embedded: PackageResources.list_certificates_sql)

    package static let addIntake = Statement(
        name: "add_intake", embedded: PackageResources.add_intake_sql)
    package static let findAddedIntake = Statement(
        name: "find_added_intake", embedded: PackageResources.find_added_intake_sql)
    package static let findIntake = Statement(
        name: "find_intake", embedded: PackageResources.find_intake_sql)
    package static let listIntake = Statement(
        name: "list_intake", embedded: PackageResources.list_intake_sql)
    package static let takeIntake = Statement(
        name: "take_intake", embedded: PackageResources.take_intake_sql)
    package static let changeIntake = Statement(
        name: "change_intake", embedded: PackageResources.change_intake_sql)
    package static let countIntake = Statement(
        name: "count_intake", embedded: PackageResources.count_intake_sql)
    package static let cleanIntake = Statement(
        name: "clean_intake", embedded: PackageResources.clean_intake_sql)

    package static let findLease = Statement(
        name: "find_lease", embedded: PackageResources.find_lease_sql)
    package static let takeLease = Statement(
        name: "take_lease", embedded: PackageResources.take_lease_sql)
    package static let keepLease = Statement(
        name: "keep_lease", embedded: PackageResources.keep_lease_sql)
    package static let endLease = Statement(
        name: "end_lease", embedded: PackageResources.end_lease_sql)

    package static let readTestClock = Statement(
        name: "read_test_clock", embedded: PackageResources.read_test_clock_sql)
    package static let markTestClock = Statement(
        name: "mark_test_clock", embedded: PackageResources.mark_test_clock_sql)
    package static let moveTestClock = Statement(
        name: "move_test_clock", embedded: PackageResources.move_test_clock_sql)
    package static let findNextDue = Statement(
        name: "find_next_due", embedded: PackageResources.find_next_due_sql)

    package static let findNextBoundary = Statement(
        name: "find_next_boundary", embedded: PackageResources.find_next_boundary_sql)
    package static let listDueBoundaries = Statement(
        name: "list_due_boundaries", embedded: PackageResources.list_due_boundaries_sql)

    package static let listEvents = Statement(
        name: "list_events", embedded: PackageResources.list_events_sql)
    package static let listCustomers = Statement(
        name: "list_customers", embedded: PackageResources.list_customers_sql)
    package static let findAccount = Statement(
        name: "find_account", embedded: PackageResources.find_account_sql)
    package static let listRefundRequests = Statement(
        name: "list_refund_requests", embedded: PackageResources.list_refund_requests_sql)
    package static let listAskedRefunds = Statement(
        name: "list_asked_refunds", embedded: PackageResources.list_asked_refunds_sql)
    package static let findOrder = Statement(
        name: "find_order", embedded: PackageResources.find_order_sql)
    package static let listKeys = Statement(
        name: "list_keys", embedded: PackageResources.list_keys_sql)
    package static let listProjects = Statement(
        name: "list_projects", embedded: PackageResources.list_projects_sql)
    package static let listApps = Statement(
        name: "list_apps", embedded: PackageResources.list_apps_sql)
    package static let listOutdatedProjects = Statement(
        name: "list_outdated_projects", embedded: PackageResources.list_outdated_projects_sql)
    package static let listOutdatedCustomers = Statement(
        name: "list_outdated_customers", embedded: PackageResources.list_outdated_customers_sql)
    package static let markProjected = Statement(
        name: "mark_projected", embedded: PackageResources.mark_projected_sql)
    package static let listShards = Statement(
        name: "list_shards", embedded: PackageResources.list_shards_sql)
    package static let followShards = Statement(
        name: "follow_shards", embedded: PackageResources.follow_shards_sql)
    package static let readCursor = Statement(
        name: "read_cursor", embedded: PackageResources.read_cursor_sql)
    package static let openCursor = Statement(
        name: "open_cursor", embedded: PackageResources.open_cursor_sql)
    package static let moveCursor = Statement(
        name: "move_cursor", embedded: PackageResources.move_cursor_sql)
    package static let forgetCursor = Statement(
        name: "forget_cursor", embedded: PackageResources.forget_cursor_sql)
    package static let scanShard = Statement(
        name: "scan_shard", embedded: PackageResources.scan_shard_sql)
    package static let listResting = Statement(
        name: "list_resting", embedded: PackageResources.list_resting_sql)
    package static let declareUnnamedEvidence = Statement(
        name: "declare_unnamed_evidence",
        embedded: PackageResources.declare_unnamed_evidence_sql)
    package static let fetchUnnamedEvidence = Statement(
        name: "fetch_unnamed_evidence", embedded: PackageResources.fetch_unnamed_evidence_sql)
    package static let listBeyond = Statement(
        name: "list_beyond", embedded: PackageResources.list_beyond_sql)
    package static let auditVersions = Statement(
        name: "audit_versions", embedded: PackageResources.audit_versions_sql)

}

/// What an audit reads.
extension Statement {
    package static let auditCustomers = Statement(
        name: "audit_customers", embedded: PackageResources.audit_customers_sql)
    package static let auditPurchases = Statement(
        name: "audit_purchases", embedded: PackageResources.audit_purchases_sql)
    package static let auditBalances = Statement(
        name: "audit_balances", embedded: PackageResources.audit_balances_sql)
    package static let auditOrders = Statement(
        name: "audit_orders", embedded: PackageResources.audit_orders_sql)
    package static let auditOrderOwners = Statement(
        name: "audit_order_owners", embedded: PackageResources.audit_order_owners_sql)
    package static let auditTokens = Statement(
        name: "audit_tokens", embedded: PackageResources.audit_tokens_sql)
    package static let auditHolders = Statement(
        name: "audit_holders", embedded: PackageResources.audit_holders_sql)
    package static let auditProjects = Statement(
        name: "audit_projects", embedded: PackageResources.audit_projects_sql)
    package static let auditKeys = Statement(
        name: "audit_keys", embedded: PackageResources.audit_keys_sql)
    package static let auditApps = Statement(
        name: "audit_apps", embedded: PackageResources.audit_apps_sql)
    package static let auditStreams = Statement(
        name: "audit_streams", embedded: PackageResources.audit_streams_sql)
    package static let auditUnlisted = Statement(
        name: "audit_unlisted", embedded: PackageResources.audit_unlisted_sql)
    package static let sampleProjectCustomers = Statement(
        name: "sample_project_customers", embedded: PackageResources.sample_project_customers_sql)
    package static let sampleCustomers = Statement(
        name: "sample_customers", embedded: PackageResources.sample_customers_sql)
    package static let auditOrphans = Statement(
        name: "audit_orphans", embedded: PackageResources.audit_orphans_sql)
    package static let auditProjectStreams = Statement(
        name: "audit_project_streams", embedded: PackageResources.audit_project_streams_sql)
    package static let listProjected = Statement(
        name: "list_projected", embedded: PackageResources.list_projected_sql)
    package static let beginSnapshot = Statement(
        name: "begin_snapshot", embedded: PackageResources.begin_snapshot_sql)
    package static let walkHolders = Statement(
        name: "walk_holders", embedded: PackageResources.walk_holders_sql)
    package static let walkOrderOwners = Statement(
        name: "walk_order_owners", embedded: PackageResources.walk_order_owners_sql)
    package static let walkTokens = Statement(
        name: "walk_tokens", embedded: PackageResources.walk_tokens_sql)
    package static let quarantineEvents = Statement(
        name: "quarantine_events", embedded: PackageResources.quarantine_events_sql)
    package static let listStrays = Statement(
        name: "list_strays", embedded: PackageResources.list_strays_sql)
    package static let sampleHolders = Statement(
        name: "sample_holders", embedded: PackageResources.sample_holders_sql)
    package static let sampleOrderOwners = Statement(
        name: "sample_order_owners", embedded: PackageResources.sample_order_owners_sql)
    package static let sampleTokens = Statement(
        name: "sample_tokens", embedded: PackageResources.sample_tokens_sql)
}

/// What a reconciliation reads and notes.
extension Statement {
    package static let lockReconciliation = Statement(
        name: "lock_reconciliation", embedded: PackageResources.lock_reconciliation_sql)
    package static let holdReconciliation = Statement(
        name: "hold_reconciliation", embedded: PackageResources.hold_reconciliation_sql)
    package static let findReconciliation = Statement(
        name: "find_reconciliation", embedded: PackageResources.find_reconciliation_sql)
    package static let listRequested = Statement(
        name: "list_requested", embedded: PackageResources.list_requested_sql)
    package static let listReconciled = Statement(
        name: "list_reconciled", embedded: PackageResources.list_reconciled_sql)
    package static let markReconciled = Statement(
        name: "mark_reconciled", embedded: PackageResources.mark_reconciled_sql)
    package static let forgetReconciled = Statement(
        name: "forget_reconciled", embedded: PackageResources.forget_reconciled_sql)
    package static let listProven = Statement(
        name: "list_proven", embedded: PackageResources.list_proven_sql)
    package static let markProven = Statement(
        name: "mark_proven", embedded: PackageResources.mark_proven_sql)
    package static let listStaleOrders = Statement(
        name: "list_stale_orders", embedded: PackageResources.list_stale_orders_sql)
    package static let countReconciled = Statement(
        name: "count_reconciled", embedded: PackageResources.count_reconciled_sql)
    package static let countProjectIntake = Statement(
        name: "count_project_intake", embedded: PackageResources.count_project_intake_sql)
    package static let countProjectUnclaimed = Statement(
        name: "count_project_unclaimed", embedded: PackageResources.count_project_unclaimed_sql)
}
