/// An expected refusal. It says which rule forbids the request.
package enum Refusal: Error, Hashable, Sendable {
    case projectUnknown(ProjectID)
    case projectExists(ProjectID)
    case keyUnknown(KeyID)
    case tooManyKeys(limit: Int)
    case key(KeyRefusal)
    case support(SupportRefusal)
    case merge(MergeRefusal)
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
    case grantUnknown(GrantID)
    case grantEnded(GrantID, at: Instant)
    /// The grant has ended or was revoked, so its end can no longer change.
    case grantOver(GrantID, at: Instant)
    /// The end is in the past. `isLength` means that a length determined it.
    case grantEndsInThePast(Instant, isLength: Bool)
    case grantEndsBeforeItStarts(start: Instant, end: Instant)
    case grantEndsTooLate
    case tooManyGrants(limit: Int)
    case noteUnknown(NoteID)
    case tooManyNotes(limit: Int)
    case customerUnknown(CustomerID)
    case alreadyErased(CustomerID, at: Instant)
    case neverErased(CustomerID)
    case exportTooLarge(limit: Int)
    case intentStale
    case doneBeforeErasure
    case purchaseErased
    case nameUnknown(CatalogName, nearest: String?)
    case idempotencyMismatch
    /// The id, in its visible form.
    case idImproper(String, ImproperForm)
    case amountOutOfRange(Int64, limit: Int64)
    /// A back end's amount must be positive, because back ends can only add coins that a customer
    /// earned.
    case earnsNothing(Int64, limit: Int64)
    case insufficientBalance(CurrencyID, has: Int64, needs: Int64, inSandbox: Int64 = 0)
    case balanceOutOfBounds(CurrencyID, limit: Int64)
    case creditNotAllowed(CurrencyID)
    case creditLimitReached(CurrencyID, CreditLimit, left: Int64)
    case tooManyCreditLimits(limit: Int)
    case orderUnknown(OrderID)
    case orderExists
    case orderFulfilled(OrderID)
    case tooManyOrders(limit: Int)
    case tokenTaken
    case tooManyTokens(limit: Int)
    case tooManyUnclaimed(limit: Int)
    case notUnclaimed(PurchaseID)
    case heldByAnother
    case accountShared
    case movedRecently(until: Instant)
    case tooMuchAtOnce(limit: Int)
    /// Older releases would not be able to read the event.
    case formatPending(needed: LogFormat, present: LogFormat)
    case purchaseUnknown(PurchaseID)
    case alreadyHeld(PurchaseID)
    /// The purchase came from a customer who has since been merged into its holder, so no move is left to undo.
    case cameFromPart(PurchaseID, CustomerID)
    case neverMoved(PurchaseID)
    case notBlocked(PurchaseID)
    case boundByBalance(PurchaseID)
    case purchaseChangedMeanwhile(PurchaseID)
    case catalogChangedMeanwhile(found: Int64)
    case customerChangedMeanwhile(CustomerID, found: Int64)
    /// The number of customers whom the request concerns.
    case versionsMiscounted(Int)
    case intakeUnknown(IntakeID)
    case intakeEnded(IntakeID, IntakeItem.State.Word)
    case intakeQueuedAgain(IntakeID)
    case intakeFull
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
    case webhookUnknown(WebhookID)
    case tooManyWebhooks(limit: Int)
    case tooManyReplays(limit: Int)
    /// The reason why the installation's key cannot be used for the webhook's secrets.
    case webhookLocked(String)
    case feedEventUnknown(String)

    /// The stable code of this refusal.
    package var code: String {
        switch self {
        case .projectUnknown: "project_unknown"
        case .projectExists: "project_exists"
        case .keyUnknown: "key_unknown"
        case .tooManyKeys: "too_many_keys"
        case .key(let refusal): refusal.code
        case .support(let refusal): refusal.code
        case .merge(let refusal): refusal.code
        case .customerMerged: "customer_merged"
        case .mergedMeanwhile: "customer_changed_meanwhile"
        case .appUnknown: "app_unknown"
        case .appTaken: "app_taken"
        case .appNotAllowed: "app_not_allowed"
        case .tooManyAllowedApps: "too_many_allowed_apps"
        case .tooManyApps: "too_many_apps"
        case .tooManyListed: "too_many_listed"
        case .waitTooLong: "wait_too_long"
        case .grantUnknown: "grant_unknown"
        case .grantEnded: "grant_ended"
        case .grantOver: "grant_ended"
        case .grantEndsInThePast: "grant_ends_in_the_past"
        case .grantEndsBeforeItStarts: "grant_ends_before_it_starts"
        case .grantEndsTooLate: "grant_ends_too_late"
        case .tooManyGrants: "too_many_grants"
        case .noteUnknown: "note_unknown"
        case .tooManyNotes: "too_many_notes"
        case .customerUnknown: "customer_unknown"
        case .alreadyErased: "already_erased"
        case .neverErased: "never_erased"
        case .exportTooLarge: "answer_too_large"
        case .intentStale: "intent_stale"
        case .doneBeforeErasure: "done_before_erasure"
        case .purchaseErased: "purchase_erased"
        case .nameUnknown(let name, _): name.unknownCode
        case .idempotencyMismatch: "idempotency_mismatch"
        case .idImproper: "id_improper"
        case .amountOutOfRange: "amount_out_of_range"
        case .earnsNothing: "amount_out_of_range"
        case .insufficientBalance: "insufficient_balance"
        case .balanceOutOfBounds: "balance_out_of_bounds"
        case .creditNotAllowed: "credit_not_allowed"
        case .creditLimitReached: "credit_limit_reached"
        case .tooManyCreditLimits: "too_many_credit_limits"
        case .orderUnknown: "order_unknown"
        case .orderExists: "order_exists"
        case .orderFulfilled: "order_fulfilled"
        case .tooManyOrders: "too_many_orders"
        case .tokenTaken: "token_taken"
        case .tooManyTokens: "too_many_tokens"
        case .tooManyUnclaimed: "too_many_unclaimed"
        case .notUnclaimed: "not_unclaimed"
        case .heldByAnother: "held_by_another"
        case .accountShared: "account_shared"
        case .movedRecently: "moved_recently"
        case .tooMuchAtOnce: "too_much_at_once"
        case .formatPending: "format_pending"
        case .purchaseUnknown: "purchase_unknown"
        case .alreadyHeld: "already_held"
        case .cameFromPart: "already_held"
        case .neverMoved: "never_moved"
        case .notBlocked: "not_blocked"
        case .boundByBalance: "bound_by_balance"
        case .purchaseChangedMeanwhile: "purchase_changed_meanwhile"
        case .catalogChangedMeanwhile: "catalog_changed_meanwhile"
        case .customerChangedMeanwhile: "customer_changed_meanwhile"
        case .versionsMiscounted: "invalid_member"
        case .intakeUnknown: "intake_unknown"
        case .intakeEnded: "intake_ended"
        case .intakeQueuedAgain: "intake_queued_again"
        case .intakeFull: "intake_full"
        case .credentialsInvalid: "credentials_invalid"
        case .credentialsLocked: "credentials_locked"
        case .realStoreOnTestClock: "real_store_refused"
        case .storeOnThisMachine: "store_on_this_machine"
        case .testClockMissing: "test_clock_missing"
        case .testClockGoesForward: "test_clock_goes_forward"
        case .testClockOutOfRange: "test_clock_out_of_range"
        case .reconciliationRunning: "reconciliation_running"
        case .reconciliationUnknown: "reconciliation_unknown"
        case .webhookUnknown: "webhook_unknown"
        case .tooManyWebhooks: "too_many_webhooks"
        case .tooManyReplays: "too_many_replays"
        case .webhookLocked: "webhook_locked"
        case .feedEventUnknown: "event_unknown"
        }
    }

    package var sentence: String {
        switch self {
        case .projectUnknown(let id):
            "There is no project \"\(id)\"."
        case .projectExists(let id):
            "The project \"\(id)\" already exists; use it, or choose another name."
        case .keyUnknown(let id):
            "The project has no key \"\(id)\"."
        case .tooManyKeys(let limit):
            "The project has \(limit) keys, which is the limit; revoke one first."
        case .key(let refusal): refusal.sentence
        case .support(let refusal): refusal.sentence
        case .merge(let refusal): refusal.sentence
        case .mergedMeanwhile(let id):
            "The customer \"\(id)\" was merged or separated at the same moment, so nothing was done; look at the "
                + "customer, and try again."
        case .customerMerged(let id, let into):
            "The customer \"\(id)\" was merged into \"\(into)\"; use that customer instead."
        case .appUnknown(let id):
            "The project has no app \"\(id)\"."
        case .appTaken:
            "Another project has this app."
        case .appNotAllowed(let key):
            "The operator has not allowed this project to add \"\(key.id)\"."
        case .tooManyAllowedApps(let limit):
            "The project may add \(limit) apps, which is the limit."
        case .tooManyApps(let limit):
            "The project has \(limit) apps, which is the limit; remove one first."
        case .tooManyListed(let limit):
            "At most \(limit) customers may be listed for the sandbox; list fewer, or choose \"all\"."
        case .waitTooLong(let days):
            "A cool-down and an order's lifetime may last at most \(days) days; give a shorter one."
        case .grantUnknown(let id):
            "The customer has no grant \"\(id)\" in the requested environment."
        case .grantEnded(let id, let end):
            "The grant \"\(id)\" ended at \(end.text); there is nothing left to revoke."
        case .grantOver(let id, let end):
            "The grant \"\(id)\" ended at \(end.text) and can no longer be changed; give a new grant."
        case .grantEndsInThePast(let end, _):
            "The grant would have ended at \(end.text); give a later end, or revoke it."
        case .grantEndsBeforeItStarts(let start, let end):
            "The grant would end at \(end.text) and start at \(start.text); give a later end."
        case .grantEndsTooLate:
            "The grant would end after the year 9999; give an earlier end, or none at all."
        case .tooManyGrants(let limit):
            "The customer has \(limit) grants, which is the limit; use another customer."
        case .noteUnknown(let id):
            "The customer has no note \"\(id)\" in the requested environment."
        case .tooManyNotes(let limit):
            "The customer has \(limit) notes, which is the limit; remove one first."
        case .customerUnknown(let id):
            "There is no customer \"\(id)\" in the requested environments."
        case .alreadyErased(let id, let instant):
            "The customer \"\(id)\" was erased at \(instant.text), and nothing has happened since."
        case .neverErased(let id):
            "The customer \"\(id)\" was never erased."
        case .exportTooLarge(let limit):
            "The answer would have more than \(limit) bytes, the limit of one call."
        case .intentStale:
            "The intent is older than 15 minutes, was made for another customer, environment or choice of \"purchases\", "
                + "or the customer has changed since. Ask for a new intent, check what it erases, and send it."
        case .doneBeforeErasure:
            "This call was sent before the customer was erased, and no longer counts; to start the customer anew, "
                + "send the call again with a new key."
        case .purchaseErased:
            "This purchase was erased together with its holder, and can never have a holder again."
        case .nameUnknown(let name, let nearest):
            "The catalog has no \(name.noun) \"\(name.text)\""
                + (nearest.map { "; the nearest name is \"\($0)\"." } ?? ".")
        case .idempotencyMismatch:
            "This Idempotency-Key was used for another command; send a new key with a new command."
        case .idImproper(let id, let form):
            "There is no \"\(id)\" yet, and it cannot become a new id: it \(form)."
        case .amountOutOfRange(let amount, let limit):
            "The amount \(amount) is out of range; spend from 1 to \(limit), or adjust by up to \(limit) in either direction."
        case .earnsNothing(let amount, let limit):
            "The amount \(amount) cannot be added. Back ends may add 1 to \(limit); an admin's key may "
                + "take."
        case .insufficientBalance(let currency, let has, let needs, let inSandbox):
            "The balance of \"\(currency)\" is \(has), which is less than \(needs); nothing was spent."
                + (inSandbox > 0
                    ? " This is production; in the sandbox it is \(inSandbox), which a spend with "
                        + "the environment \"sandbox\" takes." : "")
        case .balanceOutOfBounds(let currency, let limit):
            "The balance of \"\(currency)\" would pass \(limit); adjust by a smaller amount."
        case .creditNotAllowed(let currency):
            "The project does not let back ends add to \"\(currency)\"."
        case .creditLimitReached(let currency, let limit, let left):
            "A back end may add \(limit.perCall) \"\(currency)\" per call and \(limit.perDay) per day to "
                + "a customer, and only \(left) more now; add at most \(left), or use an admin's key."
        case .tooManyCreditLimits(let limit):
            "At most \(limit) currencies may have a credit limit; remove one first."
        case .orderUnknown(let id):
            "There is no order \"\(id)\" in the requested environment."
        case .orderExists:
            "The project already has an order with this id; use it, or choose another id."
        case .orderFulfilled(let id):
            "The purchase for the order \"\(id)\" has arrived; there is nothing left to close."
        case .tooManyOrders(let limit):
            "The customer has \(limit) open orders, which is the limit; close one first."
        case .tokenTaken:
            "Another customer has this token; give each customer a separate token."
        case .tooManyTokens(let limit):
            "The customer has \(limit) tokens, which is the limit; use one of them."
        case .tooManyUnclaimed(let limit):
            "More than \(limit) purchases are waiting under this token, so it cannot belong to one customer."
        case .notUnclaimed(let id):
            "The purchase \"\(id)\" is not waiting for a customer in the requested environment: a customer "
                + "has it, or Deed has never seen it there."
        case .heldByAnother:
            "Another customer holds this purchase; an admin can transfer it."
        case .accountShared:
            "This store account's app transaction was already submitted for as many customers as the project allows."
        case .movedRecently(let end):
            "The purchase was moved recently and cannot move again until \(end.text); try again then."
        case .tooMuchAtOnce(let limit):
            "The evidence leads to more than \(limit) events; submit it in several calls."
        case .formatPending(let needed, let present):
            "This call needs the log's format \(needed.number), but the log still has format \(present.number), which older releases can "
                + "read."
        case .purchaseUnknown(let id):
            "The customer does not hold the purchase \"\(id)\" in the requested environment."
        case .alreadyHeld(let id):
            "The customer already holds the purchase \"\(id)\"; there is nothing to move."
        case .cameFromPart(let id, let part):
            "The purchase \"\(id)\" came from \"\(part)\", who has since been merged into its holder; undo that merge first."
        case .neverMoved(let id):
            "The purchase \"\(id)\" is with its first holder; there is no move to undo."
        case .notBlocked(let id):
            "The purchase \"\(id)\" was never blocked; there is nothing to undo."
        case .boundByBalance(let id):
            "The purchase \"\(id)\" credited a balance, and balances never move; adjust them instead."
        case .purchaseChangedMeanwhile(let id):
            "The purchase \"\(id)\" changed at the same moment; check who holds it and try again."
        case .catalogChangedMeanwhile(let found):
            "The catalog is now at version \(found); compare yours with it and try again."
        case .versionsMiscounted(let count):
            "This call concerns \(count) customer\(count == 1 ? "" : "s")."
        case .customerChangedMeanwhile(let customer, let found):
            "The customer \"\(customer)\" is now at version \(found), so nothing was done; look at the "
                + "customer again, and send that version if the call is still right."
        case .intakeUnknown(let id):
            "The project's queue has no \"\(id)\"; items are deleted 90 days after they end."
        case .intakeEnded(let id, let word):
            "\"\(id)\" is already \(word.rawValue); only a waiting or refused item can be ended, and "
                + "only an item that was not believed can be retried."
        case .intakeQueuedAgain(let id):
            "The evidence of \"\(id)\" was sent again and is waiting under another id; retry that item."
        case .intakeFull:
            "The project's queue of evidence is full."
        case .credentialsInvalid(let part): part.sentence
        case .credentialsLocked(let reason):
            "The store's credentials cannot be opened or stored: \(reason)."
        case .realStoreOnTestClock:
            "This database has a test clock, which a real store does not follow."
        case .storeOnThisMachine(let address):
            "Deed sends this app's credentials, unencrypted, to the program that listens at \(address.url)."
        case .testClockMissing:
            "This database has no test clock."
        case .testClockGoesForward(let from):
            "The test clock shows \(from.text) and only moves forward; give a later instant."
        case .testClockOutOfRange:
            "The test clock would pass the year 9999; give an earlier instant."
        case .reconciliationRunning:
            "Another reconciliation of this database is running; try again when it has ended."
        case .reconciliationUnknown(let id):
            "There is no reconciliation \(id)."
        case .webhookUnknown(let id):
            "The project has no webhook \"\(id)\"."
        case .tooManyWebhooks(let limit):
            "The project has \(limit) webhooks, which is the limit; remove one first."
        case .tooManyReplays(let limit):
            "The webhook has \(limit) replays under way, which is the limit; wait for one to end."
        case .webhookLocked(let reason):
            "The webhook's secrets cannot be opened or stored: \(reason)."
        case .feedEventUnknown(let id):
            "The feed has no event \"\(id)\" in the webhook's environment; copy its id from the feed or "
                + "from a delivery."
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
