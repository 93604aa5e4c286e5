package import Postgres

/// A step of the schema. A released step is never edited.
package struct Migration: Sendable {
    package let number: Int64
    package let name: String
    package let script: Script
    /// Whether each statement runs in its own transaction, as a concurrent index build requires. If
    /// such a migration is interrupted, its statements run again.
    package let isStepwise: Bool

    /// The name begins with the number.
    private init(_ name: String, _ text: [UInt8], isStepwise: Bool = false) {
        number = Int64(name.prefix { $0 != "_" }) ?? 0
        self.name = name
        script = Script(embedded: text)
        self.isStepwise = isStepwise
    }

    /// The migration's statements, each of which ends with a line.
    package var steps: [Script] {
        var steps: [String] = []
        var step = ""
        let parts = String(decoding: script.text, as: UTF8.self)
            .split(separator: "$$", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            // Text between dollar quotes is a function's body, which may contain several statements.
            if index % 2 == 1 {
                step += "$$\(part)$$"
                continue
            }
            let pieces = part.split(separator: ";\n", omittingEmptySubsequences: false)
            for piece in pieces.dropLast() {
                steps.append(step + piece)
                step = ""
            }
            step += pieces.last ?? ""
        }
        if !step.isEmpty { steps.append(step) }
        return steps.map { Script(embedded: Array($0.utf8)) }
    }

    /// Every migration that this binary knows, in order.
    package static let all = [
        Migration("0001_baseline", File._001_baseline_sql),
        Migration("0002_hands", File._002_hands_sql),
        Migration("0003_find", File._003_find_sql),
        Migration("0004_webhooks", File._004_webhooks_sql),
        Migration("0005_operate", File._005_operate_sql),
        Migration("0006_erase", File._006_erase_sql),
        Migration("0007_persons", File._007_persons_sql),
        Migration("0008_merge", File._008_merge_sql),
        Migration("0009_console", File._009_console_sql),
        Migration("0010_kept", File._010_kept_sql),
        Migration("0011_causes", File._011_causes_sql, isStepwise: true),
        Migration("0012_format", File._012_format_sql),
        Migration("0013_notes", File._013_notes_sql, isStepwise: true),
        Migration("0014_forget", File._014_forget_sql, isStepwise: true),
        Migration("0015_forgetting", File._015_forgetting_sql),
        Migration("0016_tickets", File._016_tickets_sql, isStepwise: true),
        Migration("0017_factors", File._017_factors_sql),
        Migration("0018_catalogs", File._018_catalogs_sql),
        Migration("0019_figures", File._019_figures_sql),
        Migration("0020_acts", File._020_acts_sql, isStepwise: true),
    ]
}

/// The schema that the migrations create, with one line for each aspect of each object.
package let schemaList = String(decoding: File.schema_txt, as: UTF8.self)

private typealias File = PackageResources

/// The files in `queries`, each with one statement and a list of its parameters at the top, and the files in `tables`.
extension Statement {
    // Transactions.
    package static let begin = Statement(embedded: File.begin_sql)
    package static let beginSnapshot = Statement(embedded: File.begin_snapshot_sql)
    package static let commit = Statement(embedded: File.commit_sql)
    package static let rollback = Statement(embedded: File.rollback_sql)

    // The log.
    package static let lockShards = Statement(embedded: File.lock_shards_sql)
    package static let insertEvents = Statement(embedded: File.insert_events_sql)
    package static let advanceShards = Statement(embedded: File.advance_shards_sql)
    package static let loadStreams = Statement(embedded: File.load_streams_sql)
    package static let readStreams = Statement(embedded: File.read_streams_sql)
    package static let loadCauses = Statement(embedded: File.load_causes_sql)
    package static let keepState = Statement(embedded: File.keep_state_sql)
    package static let eraseKeptStates = Statement(embedded: File.erase_kept_states_sql)
    package static let readKeptStates = Statement(embedded: File.read_kept_states_sql)
    package static let dropKeptStates = Statement(embedded: File.drop_kept_states_sql)
    package static let loadVersions = Statement(embedded: File.load_versions_sql)
    package static let listEvents = Statement(embedded: File.list_events_sql)
    package static let listShards = Statement(embedded: File.list_shards_sql)
    package static let followShards = Statement(embedded: File.follow_shards_sql)
    package static let findChains = Statement(embedded: File.find_chains_sql)
    package static let recallStreams = Statement(embedded: File.recall_streams_sql)
    package static let findCatalog = Statement(embedded: File.find_catalog_sql)
    package static let insertCatalogs = Statement(embedded: File.insert_catalogs_sql)
    package static let listEditions = Statement(embedded: File.list_editions_sql)
    package static let findPlaces = Statement(embedded: File.find_places_sql)
    package static let scanShard = Statement(embedded: File.scan_shard_sql)
    package static let readCursor = Statement(embedded: File.read_cursor_sql)
    package static let openCursor = Statement(embedded: File.open_cursor_sql)
    package static let moveCursor = Statement(embedded: File.move_cursor_sql)

    // Evidence.
    package static let insertEvidence = Statement(embedded: File.insert_evidence_sql)
    package static let insertCertificates = Statement(embedded: File.insert_certificates_sql)
    package static let nameEvidence = Statement(embedded: File.name_evidence_sql)
    package static let findEventEvidence = Statement(embedded: File.find_event_evidence_sql)
    package static let lookUpEvidence = Statement(embedded: File.look_up_evidence_sql)
    package static let listEvidence = Statement(embedded: File.list_evidence_sql)
    package static let listCertificates = Statement(embedded: File.list_certificates_sql)
    package static let listResting = Statement(embedded: File.list_resting_sql)
    package static let declareUnnamedEvidence = Statement(
        embedded: File.declare_unnamed_evidence_sql)
    package static let fetchUnnamedEvidence = Statement(embedded: File.fetch_unnamed_evidence_sql)

    // Names, their owners, and purchases that wait for an owner.
    package static let findPurchaseToken = Statement(embedded: File.find_purchase_token_sql)
    package static let loadHolders = Statement(embedded: File.load_holders_sql)
    package static let loadTokens = Statement(embedded: File.load_tokens_sql)
    package static let loadUnclaimed = Statement(embedded: File.load_unclaimed_sql)
    package static let loadCarried = Statement(embedded: File.load_carried_sql)
    package static let claimApps = Statement(embedded: File.claim_apps_sql)
    package static let claimOrders = Statement(embedded: File.claim_orders_sql)
    package static let claimTokens = Statement(embedded: File.claim_tokens_sql)
    package static let guardTokens = Statement(embedded: File.guard_tokens_sql)
    package static let awaitTokens = Statement(embedded: File.await_tokens_sql)
    package static let carryTokens = Statement(embedded: File.carry_tokens_sql)
    package static let dropCarriedTokens = Statement(embedded: File.drop_carried_tokens_sql)
    package static let forgetCarriedTokens = Statement(embedded: File.forget_carried_tokens_sql)
    package static let listUnclaimed = Statement(embedded: File.list_unclaimed_sql)
    package static let countUnclaimed = Statement(embedded: File.count_unclaimed_sql)
    package static let listClaimable = Statement(embedded: File.list_claimable_sql)
    package static let listContinuing = Statement(embedded: File.list_continuing_sql)
    package static let loadWaitingCredits = Statement(embedded: File.load_waiting_credits_sql)

    // Figures.
    package static let findFigurePage = Statement(embedded: File.find_figure_page_sql)
    package static let countActiveEntitlements = Statement(
        embedded: File.count_active_entitlements_sql)
    package static let countActiveProducts = Statement(embedded: File.count_active_products_sql)
    package static let countUnclaimedPage = Statement(embedded: File.count_unclaimed_page_sql)
    package static let listEndingAccess = Statement(embedded: File.list_ending_access_sql)
    package static let listLateRefunds = Statement(embedded: File.list_late_refunds_sql)
    package static let openFigures = Statement(embedded: File.open_figures_sql)
    package static let holdFigures = Statement(embedded: File.hold_figures_sql)
    package static let keepFigures = Statement(embedded: File.keep_figures_sql)
    package static let findFigures = Statement(embedded: File.find_figures_sql)

    // Lookups and lists for answers.
    package static let listCustomers = Statement(embedded: File.list_customers_sql)
    package static let listGrants = Statement(embedded: File.list_grants_sql)
    package static let findNames = Statement(embedded: File.find_names_sql)
    package static let findCustomers = Statement(embedded: File.find_customers_sql)
    package static let findEvent = Statement(embedded: File.find_event_sql)
    package static let findTicket = Statement(embedded: File.find_ticket_sql)
    package static let findAccount = Statement(embedded: File.find_account_sql)
    package static let listRefundRequests = Statement(embedded: File.list_refund_requests_sql)
    package static let listAskedRefunds = Statement(embedded: File.list_asked_refunds_sql)
    package static let findOrder = Statement(embedded: File.find_order_sql)
    package static let listKeys = Statement(embedded: File.list_keys_sql)
    package static let noteKeyUses = Statement(embedded: File.note_key_uses_sql)
    package static let listActs = Statement(embedded: File.list_acts_sql)
    package static let listRefusedCalls = Statement(embedded: File.list_refused_calls_sql)
    package static let noteRefusedCalls = Statement(embedded: File.note_refused_calls_sql)
    package static let forgetRefusedCalls = Statement(embedded: File.forget_refused_calls_sql)
    package static let listKeyUses = Statement(embedded: File.list_key_uses_sql)
    package static let listProjects = Statement(embedded: File.list_projects_sql)
    package static let listApps = Statement(embedded: File.list_apps_sql)

    // Due work.
    package static let findNextBoundary = Statement(embedded: File.find_next_boundary_sql)
    package static let listDueBoundaries = Statement(embedded: File.list_due_boundaries_sql)
    package static let listStaleOrders = Statement(embedded: File.list_stale_orders_sql)
    package static let findNextDue = Statement(embedded: File.find_next_due_sql)
    package static let listOutdatedProjects = Statement(embedded: File.list_outdated_projects_sql)
    package static let listOutdatedCustomers = Statement(embedded: File.list_outdated_customers_sql)
    package static let listProjected = Statement(embedded: File.list_projected_sql)
    package static let markProjected = Statement(embedded: File.mark_projected_sql)

    // Tables derived from the log. The first seven files are templates that are filled in for each table.
    package static let writeRows = Statement(embedded: File.write_rows_sql)
    package static let removeRows = Statement(embedded: File.remove_rows_sql)
    package static let readRows = Statement(embedded: File.read_rows_sql)
    package static let walkRows = Statement(embedded: File.walk_rows_sql)
    package static let sampleRows = Statement(embedded: File.sample_rows_sql)
    package static let listOrphans = Statement(embedded: File.list_orphans_sql)
    package static let clearOrphans = Statement(embedded: File.clear_orphans_sql)
    package static let loadErased = Statement(embedded: File.load_erased_sql)
    package static let eraseCustomers = Statement(embedded: File.erase_customers_sql)

    // Erased customers, and counts of a customer's data.
    package static let listErasures = Statement(embedded: File.list_erasures_sql)
    package static let listEmptying = Statement(embedded: File.list_emptying_sql)
    package static let emptyErased = Statement(embedded: File.empty_erased_sql)
    package static let countKept = Statement(embedded: File.count_kept_sql)
    package static let listCustomerEvidence = Statement(embedded: File.list_customer_evidence_sql)
    package static let listCustomerIntake = Statement(embedded: File.list_customer_intake_sql)

    // Audits.
    package static let auditProjectStreams = Statement(embedded: File.audit_project_streams_sql)
    package static let auditUnlisted = Statement(embedded: File.audit_unlisted_sql)
    package static let auditVersions = Statement(embedded: File.audit_versions_sql)
    package static let listBeyond = Statement(embedded: File.list_beyond_sql)
    package static let listStrays = Statement(embedded: File.list_strays_sql)
    package static let quarantineEvents = Statement(embedded: File.quarantine_events_sql)
    package static let sampleProjectCustomers = Statement(
        embedded: File.sample_project_customers_sql)

    // Reconciliations.
    package static let listRequested = Statement(embedded: File.list_requested_sql)
    package static let listReconciled = Statement(embedded: File.list_reconciled_sql)
    package static let markReconciled = Statement(embedded: File.mark_reconciled_sql)
    package static let forgetReconciled = Statement(embedded: File.forget_reconciled_sql)
    package static let countReconciled = Statement(embedded: File.count_reconciled_sql)
    package static let listProven = Statement(embedded: File.list_proven_sql)
    package static let markProven = Statement(embedded: File.mark_proven_sql)
    package static let countProjectIntake = Statement(embedded: File.count_project_intake_sql)
    package static let countProjectUnclaimed = Statement(embedded: File.count_project_unclaimed_sql)

    // The queue of evidence.
    package static let addIntake = Statement(embedded: File.add_intake_sql)
    package static let findAddedIntake = Statement(embedded: File.find_added_intake_sql)
    package static let findIntake = Statement(embedded: File.find_intake_sql)
    package static let listIntake = Statement(embedded: File.list_intake_sql)
    package static let takeIntake = Statement(embedded: File.take_intake_sql)
    package static let changeIntake = Statement(embedded: File.change_intake_sql)
    package static let countIntake = Statement(embedded: File.count_intake_sql)
    package static let cleanIntake = Statement(embedded: File.clean_intake_sql)

    // Webhooks.
    package static let findWebhookSecrets = Statement(embedded: File.find_webhook_secrets_sql)
    package static let putWebhookSecrets = Statement(embedded: File.put_webhook_secrets_sql)
    package static let forgetWebhookPlace = Statement(embedded: File.forget_webhook_place_sql)
    package static let forgetWebhook = Statement(embedded: File.forget_webhook_sql)
    package static let findWebhookPlaces = Statement(embedded: File.find_webhook_places_sql)
    package static let countWebhookLag = Statement(embedded: File.count_webhook_lag_sql)
    package static let listWebhookWaiting = Statement(embedded: File.list_webhook_waiting_sql)
    package static let listWebhookAttempts = Statement(embedded: File.list_webhook_attempts_sql)
    package static let addWebhookReplay = Statement(embedded: File.add_webhook_replay_sql)
    package static let listWebhookReplays = Statement(embedded: File.list_webhook_replays_sql)
    package static let listRecentWebhookReplays = Statement(
        embedded: File.list_recent_webhook_replays_sql)
    package static let listWebhookProjects = Statement(embedded: File.list_webhook_projects_sql)
    package static let keepWebhook = Statement(embedded: File.keep_webhook_sql)
    package static let readLaterEvents = Statement(embedded: File.read_later_events_sql)

    // Calls to stores, with their credentials and budgets.
    package static let findCredentials = Statement(embedded: File.find_credentials_sql)
    package static let putCredentials = Statement(embedded: File.put_credentials_sql)
    package static let forgetCredentials = Statement(embedded: File.forget_credentials_sql)
    package static let takeStoreBudget = Statement(embedded: File.take_store_budget_sql)
    package static let restStoreBudget = Statement(embedded: File.rest_store_budget_sql)
    package static let listDueInquiries = Statement(embedded: File.list_due_inquiries_sql)
    package static let findHistory = Statement(embedded: File.find_history_sql)
    package static let keepHistory = Statement(embedded: File.keep_history_sql)
    package static let findNotificationMark = Statement(embedded: File.find_notification_mark_sql)
    package static let markNotifications = Statement(embedded: File.mark_notifications_sql)
    package static let fillHistoryQuestions = Statement(embedded: File.fill_history_questions_sql)
    package static let countHistoryCustomers = Statement(embedded: File.count_history_customers_sql)
    package static let countHistoryQuestions = Statement(embedded: File.count_history_questions_sql)
    package static let listHistoryQuestions = Statement(embedded: File.list_history_questions_sql)
    package static let keepHistoryQuestion = Statement(embedded: File.keep_history_question_sql)
    package static let endHistoryQuestion = Statement(embedded: File.end_history_question_sql)
    package static let findHistoryRound = Statement(embedded: File.find_history_round_sql)
    package static let keepHistoryRound = Statement(embedded: File.keep_history_round_sql)

    // Deletion of old rows.
    package static let forgetEvidence = Statement(embedded: File.forget_evidence_sql)
    package static let forgetQuarantined = Statement(embedded: File.forget_quarantined_sql)
    package static let forgetHistories = Statement(embedded: File.forget_histories_sql)
    package static let forgetBudgets = Statement(embedded: File.forget_budgets_sql)
    package static let forgetLeases = Statement(embedded: File.forget_leases_sql)
    package static let forgetOldRefusedCalls = Statement(
        embedded: File.forget_old_refused_calls_sql)
    package static let forgetWebhookAttempts = Statement(embedded: File.forget_webhook_attempts_sql)
    package static let forgetWebhookReplays = Statement(embedded: File.forget_webhook_replays_sql)

    // Servers, instances and clocks.
    package static let lookAtServer = Statement(embedded: File.look_at_server_sql)
    package static let identifyServer = Statement(embedded: File.identify_server_sql)
    package static let seeStandbys = Statement(embedded: File.see_standbys_sql)
    package static let findRoots = Statement(embedded: File.find_roots_sql)
    package static let listShortfalls = Statement(embedded: File.list_shortfalls_sql)
    package static let noteLostEnds = Statement(embedded: File.note_lost_ends_sql)
    package static let forgetLostEnds = Statement(embedded: File.forget_lost_ends_sql)
    package static let listAcceptances = Statement(embedded: File.list_acceptances_sql)
    package static let findFreeShards = Statement(embedded: File.find_free_shards_sql)
    package static let tryRoom = Statement(embedded: File.try_room_sql)
    package static let findLease = Statement(embedded: File.find_lease_sql)
    package static let takeLease = Statement(embedded: File.take_lease_sql)
    package static let keepLease = Statement(embedded: File.keep_lease_sql)
    package static let requireLease = Statement(embedded: File.require_lease_sql)
    package static let endLease = Statement(embedded: File.end_lease_sql)
    package static let noteInstance = Statement(embedded: File.note_instance_sql)
    package static let forgetInstance = Statement(embedded: File.forget_instance_sql)
    package static let listInstances = Statement(embedded: File.list_instances_sql)
    package static let noteDone = Statement(embedded: File.note_done_sql)
    package static let listDone = Statement(embedded: File.list_done_sql)
    package static let examineServer = Statement(embedded: File.examine_server_sql)
    package static let exportSnapshot = Statement(embedded: File.export_snapshot_sql)
    package static let listDumpRoles = Statement(embedded: File.list_dump_roles_sql)
    package static let listUndumpable = Statement(embedded: File.list_undumpable_sql)
    package static let examineTarget = Statement(embedded: File.examine_target_sql)
    package static let hasSealed = Statement(embedded: File.has_sealed_sql)
    package static let listLeases = Statement(embedded: File.list_leases_sql)
    package static let listStorage = Statement(embedded: File.list_storage_sql)
    package static let measureStorage = Statement(embedded: File.measure_storage_sql)
    package static let countBudgets = Statement(embedded: File.count_budgets_sql)
    package static let readClock = Statement(embedded: File.read_clock_sql)
    package static let readTestClock = Statement(embedded: File.read_test_clock_sql)
    package static let markTestClock = Statement(embedded: File.mark_test_clock_sql)
    package static let moveTestClock = Statement(embedded: File.move_test_clock_sql)

    // People and their sessions.
    package static let addPerson = Statement(embedded: File.add_person_sql)
    package static let listPeople = Statement(embedded: File.list_people_sql)
    package static let putPersonRole = Statement(embedded: File.put_person_role_sql)
    package static let forgetPersonRole = Statement(embedded: File.forget_person_role_sql)
    package static let removePerson = Statement(embedded: File.remove_person_sql)
    package static let forgetPerson = Statement(embedded: File.forget_person_sql)
    package static let putPersonLink = Statement(embedded: File.put_person_link_sql)
    package static let findPersonLink = Statement(embedded: File.find_person_link_sql)
    package static let usePersonLink = Statement(embedded: File.use_person_link_sql)
    package static let findPassword = Statement(embedded: File.find_password_sql)
    package static let countTries = Statement(embedded: File.count_tries_sql)
    package static let forgetTries = Statement(embedded: File.forget_tries_sql)
    package static let openSession = Statement(embedded: File.open_session_sql)
    package static let findSession = Statement(embedded: File.find_session_sql)
    package static let endSessions = Statement(embedded: File.end_sessions_sql)

    // Second factors.
    package static let findSecondFactors = Statement(embedded: File.find_second_factors_sql)
    package static let putSecondFactor = Statement(embedded: File.put_second_factor_sql)
    package static let putEmergencyCodes = Statement(embedded: File.put_emergency_codes_sql)
    package static let resealSecondFactor = Statement(embedded: File.reseal_second_factor_sql)
    package static let forgetSecondFactor = Statement(embedded: File.forget_second_factor_sql)
    package static let useCode = Statement(embedded: File.use_code_sql)
    package static let useEmergencyCode = Statement(embedded: File.use_emergency_code_sql)
    package static let beginSignIn = Statement(embedded: File.begin_sign_in_sql)
    package static let findBegunSignIn = Statement(embedded: File.find_begun_sign_in_sql)

    // The schema, and the rights to it.
    package static let migrationSchema = Statement(embedded: File.migration_schema_sql)
    package static let migrationTable = Statement(embedded: File.migration_table_sql)
    package static let migrationRole = Statement(embedded: File.migration_role_sql)
    package static let migrationLock = Statement(embedded: File.migration_lock_sql)
    package static let migrationHold = Statement(embedded: File.migration_hold_sql)
    package static let migrationGiveBack = Statement(embedded: File.migration_give_back_sql)
    package static let migrationRecord = Statement(embedded: File.migration_record_sql)
    package static let migrationsApplied = Statement(embedded: File.migrations_applied_sql)
    package static let migrationsExist = Statement(embedded: File.migrations_exist_sql)
    package static let readFormat = Statement(embedded: File.read_format_sql)
    package static let holdShards = Statement(embedded: File.hold_shards_sql)
    package static let raiseFormat = Statement(embedded: File.raise_format_sql)
    package static let describeSchema = Statement(embedded: File.describe_schema_sql)
    package static let describePlainly = Statement(embedded: File.describe_plainly_sql)
    package static let narrowTemporary = Statement(embedded: File.narrow_temporary_sql)
    package static let nameServiceLogin = Statement(embedded: File.name_service_login_sql)
    package static let closeDatabase = Statement(embedded: File.close_database_sql)
}
