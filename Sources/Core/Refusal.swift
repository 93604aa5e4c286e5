/// An expected refusal. It says which rule forbids the request.
package enum Refusal: Error, Worded, Hashable, Sendable {
    case projectUnknown(ProjectID)
    case projectExists(ProjectID)
    case keyUnknown(KeyID)
    case tooManyKeys(limit: Int)
    case key(KeyRefusal)
    case support(SupportRefusal)
    case merge(MergeRefusal)
    case grant(GrantRefusal)
    case note(NoteRefusal)
    case erasure(ErasureRefusal)
    case balance(BalanceRefusal)
    case order(OrderRefusal)
    case token(TokenRefusal)
    case move(MoveRefusal)
    case intake(IntakeRefusal)
    case webhook(WebhookRefusal)
    /// The first customer was merged into the second one.
    case customerMerged(CustomerID, into: CustomerID)
    /// The merge of the customer changed between the lookup and the decision.
    case mergedMeanwhile(CustomerID)
    case appUnknown(AppID)
    case appTaken
    case appNotAllowed(AppKey)
    case tooManyAllowedApps(limit: Int)
    case tooManyApps(limit: Int)
    case tooManyListed(limit: Int)
    case waitTooLong(days: Int64)
    case customerUnknown(CustomerID)
    case nameUnknown(CatalogName, nearest: String?)
    case idempotencyMismatch
    /// The id, in its visible form.
    case idImproper(String, ImproperForm)
    case tooMuchAtOnce(limit: Int)
    /// Older releases would not be able to read the event.
    case formatPending(needed: LogFormat, present: LogFormat)
    case catalogChangedMeanwhile(found: Int64)
    case customerChangedMeanwhile(CustomerID, found: Int64)
    /// The number of customers whom the request concerns.
    case versionsMiscounted(Int)
    case credentialsInvalid(InvalidCredential)
    /// The reason why the installation's key cannot be used.
    case credentialsLocked(String)
    case realStoreOnTestClock
    case storeOnThisMachine(StoreAddress)
    case testClockMissing
    case testClockGoesForward(from: Instant)
    case testClockOutOfRange
    case reconciliationRunning
    case reconciliationUnknown(ReconciliationID)

    package var wording: RefusalWording {
        switch self {
        case .projectUnknown(let id):
            .unknown("project_unknown", "There is no project \"\(id)\".", .createProject(id))
        case .projectExists(let id):
            .conflict(
                "project_exists",
                "The project \"\(id)\" already exists; use it, or choose another name.")
        case .keyUnknown(let id):
            .unknown("key_unknown", "The project has no key \"\(id)\".", .listKeys)
        case .tooManyKeys(let limit):
            .conflict(
                "too_many_keys",
                "The project has \(limit) keys, which is the limit; revoke one first.")
        case .key(let refusal): refusal.wording
        case .support(let refusal): refusal.wording
        case .merge(let refusal): refusal.wording
        case .grant(let refusal): refusal.wording
        case .note(let refusal): refusal.wording
        case .erasure(let refusal): refusal.wording
        case .balance(let refusal): refusal.wording
        case .order(let refusal): refusal.wording
        case .token(let refusal): refusal.wording
        case .move(let refusal): refusal.wording
        case .intake(let refusal): refusal.wording
        case .webhook(let refusal): refusal.wording
        case .customerMerged(let id, let into):
            .conflict(
                "customer_merged",
                "The customer \"\(id)\" was merged into \"\(into)\"; use that customer instead.")
        case .mergedMeanwhile(let id):
            .conflict(
                "customer_changed_meanwhile",
                "The customer \"\(id)\" was merged or separated at the same moment, so nothing was done; look at the "
                    + "customer, and try again.")
        case .appUnknown(let id):
            .unknown("app_unknown", "The project has no app \"\(id)\".", .listApps)
        case .appTaken: .conflict("app_taken", "Another project has this app.", .removeAppThere)
        case .appNotAllowed(let key):
            .forbidden(
                "app_not_allowed",
                "The operator has not allowed this project to add \"\(key.id)\".",
                .askToAllowApp(key))
        case .tooManyAllowedApps(let limit):
            .conflict(
                "too_many_allowed_apps", "The project may add \(limit) apps, which is the limit.",
                .withdrawAllowance)
        case .tooManyApps(let limit):
            .conflict(
                "too_many_apps",
                "The project has \(limit) apps, which is the limit; remove one first.")
        case .tooManyListed(let limit):
            .improper(
                "too_many_listed",
                "At most \(limit) customers may be listed for the sandbox; list fewer, or choose \"all\"."
            )
        case .waitTooLong(let days):
            .improper(
                "wait_too_long",
                "A cool-down and an order's lifetime may last at most \(days) days; give a shorter one."
            )
        case .customerUnknown(let id):
            .unknown(
                "customer_unknown", "There is no customer \"\(id)\" in the requested environments.",
                .findCustomer)
        case .nameUnknown(let name, let nearest):
            .improper(
                name.unknownCode,
                "The catalog has no \(name.noun) \"\(name.text)\""
                    + (nearest.map { "; the nearest name is \"\($0)\"." } ?? "."), .correctName)
        case .idempotencyMismatch:
            .mismatch(
                "idempotency_mismatch",
                "This Idempotency-Key was used for another command; send a new key with a new command."
            )
        case .idImproper(let id, let form):
            .improper(
                "id_improper",
                "There is no \"\(id)\" yet, and it cannot become a new id: it \(form).")
        case .tooMuchAtOnce(let limit):
            .tooLarge(
                "too_much_at_once",
                "The evidence leads to more than \(limit) events; submit it in several calls.")
        case .formatPending(let needed, let present):
            .conflict(
                "format_pending",
                "This call needs log format \(needed.number), but the log is still in format \(present.number), which older releases can "
                    + "read.", .raiseFormat)
        case .catalogChangedMeanwhile(let found):
            .conflict(
                "catalog_changed_meanwhile",
                "The catalog is now at version \(found); compare yours with it and try again.")
        case .customerChangedMeanwhile(let customer, let found):
            .conflict(
                "customer_changed_meanwhile",
                "The customer \"\(customer)\" is now at version \(found), so nothing was done; look at the "
                    + "customer again, and send that version if the call is still right.")
        case .versionsMiscounted(let count):
            .improper(
                "invalid_member", "This call concerns \(count) customer\(count == 1 ? "" : "s").",
                .giveVersions(count))
        case .credentialsInvalid(let part): .improper("credentials_invalid", part.sentence)
        case .credentialsLocked(let reason):
            .conflict(
                "credentials_locked",
                "The store's credentials cannot be opened or stored: \(reason).")
        case .realStoreOnTestClock:
            .conflict(
                "real_store_refused",
                "This database has a test clock, which a real store does not follow.", .useStoreHere
            )
        case .storeOnThisMachine(let address):
            .conflict(
                "store_on_this_machine",
                "Deed sends this app's credentials, unencrypted, to the program that listens at \(address.url).",
                .removeStoreAddress)
        case .testClockMissing:
            .unknown("test_clock_missing", "This database has no test clock.", .createTestClock)
        case .testClockGoesForward(let from):
            .conflict(
                "test_clock_goes_forward",
                "The test clock shows \(from.text) and only moves forward; give a later instant.")
        case .testClockOutOfRange:
            .improper(
                "test_clock_out_of_range",
                "The test clock would pass the year 9999; give an earlier instant.")
        case .reconciliationRunning:
            .conflict(
                "reconciliation_running",
                "Another reconciliation of this database is running; try again when it has ended.")
        case .reconciliationUnknown(let id):
            .unknown(
                "reconciliation_unknown", "There is no reconciliation \(id).", .listReconciliations)
        }
    }
}

extension CatalogName {
    fileprivate var unknownCode: String {
        switch self {
        case .entitlement: "entitlement_unknown"
        case .currency: "currency_unknown"
        case .product: "product_unknown"
        }
    }
}
