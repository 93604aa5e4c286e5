/// Why a store gave no answer that can be used. Nothing is changed then.
package enum StoreTrouble: Error, Hashable, Sendable {
    case noKey(AppID)
    case noSharedSecret(AppID)
    case locked(AppID)
    /// The store does not take the key.
    case unauthorized
    /// The store refuses; repeating the call is of no use.
    case refused(code: Int64, message: String)
    /// As much was asked as may be, or the store wants a pause.
    case limited(until: Instant)
    case unavailable(String)
    /// The store could not prove who it is.
    case untrusted(String)
    case unreadable(String)
    /// What it signed is not proven, or is about something else than it was asked.
    case foreign(String)
    case endlessPages(limit: Int)
    case fault(Fault)

    package var code: String {
        switch self {
        case .noKey, .noSharedSecret: "store_not_configured"
        case .locked: "credentials_locked"
        case .unauthorized: "store_unauthorized"
        case .refused: "store_refused"
        case .limited: "store_limited"
        case .unavailable: "store_unavailable"
        case .untrusted: "store_untrusted"
        case .unreadable: "store_answer_unreadable"
        case .foreign: "store_answer_foreign"
        case .endlessPages: "store_pages_endless"
        case .fault: "database_unavailable"
        }
    }

    package var sentence: String {
        switch self {
        case .noKey(let app):
            "Deed has no key for the store's API for \(app); set one with: deed app set "
                + "--bundle-id \(app) --issuer-id … --key-id … --key-file …"
        case .noSharedSecret(let app):
            "Only the store can judge this receipt, and Deed has no shared secret for \(app); set "
                + "one with: deed app set --bundle-id \(app) --shared-secret-file …, or judge "
                + "receipts by their signature: deed app set --receipts local"
        case .locked(let app):
            "The credentials of \(app) cannot be opened: the installation's key is missing or is "
                + "a different one. Restore the key file (DEED_SECRET_KEY_FILE), or set the "
                + "credentials again with: deed app set"
        case .unauthorized:
            "The store rejects the key: check that issuer id, key id and key belong together, "
                + "that the key was not revoked, and that this machine's clock is right."
        case .refused(let code, let message):
            "The store refuses it: \(message.isEmpty ? "no reason is given" : message) (\(code))"
        case .limited(let until):
            "The limit of requests to the store is reached; ask again after \(until.text)."
        case .unavailable(let detail): "The store cannot be reached now: \(detail)"
        case .untrusted(let detail): "The store could not prove who it is: \(detail)"
        case .unreadable(let detail): "The store's answer cannot be read: \(detail)"
        case .foreign(let detail): "The store's answer is not believed: \(detail)"
        case .endlessPages(let limit):
            "The store's pages repeat, do not end or take too long; reading stopped after \(limit)."
        case .fault: "The database could not be reached."
        }
    }

    /// Whether a repetition may succeed later, without a person mending anything.
    package var isRetryable: Bool {
        switch self {
        case .limited, .unavailable, .fault: true
        default: false
        }
    }
}

/// The codes of a store that a check of it must distinguish.
package struct StoreCodes: Sendable {
    /// It knows no place to send notifications to.
    package let noAddress: Int64
    /// It knows nothing of the test notification yet.
    package let testUnknown: Int64
    /// It knows no such purchase, or none of the account any more.
    package let purchaseUnknown: Set<Int64>

    package init(noAddress: Int64, testUnknown: Int64, purchaseUnknown: Set<Int64>) {
        (self.noAddress, self.testUnknown) = (noAddress, testUnknown)
        self.purchaseUnknown = purchaseUnknown
    }
}
