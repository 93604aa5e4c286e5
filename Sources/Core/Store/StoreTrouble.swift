/// Why a store gave no usable answer. Nothing changes in that case.
package enum StoreTrouble: Trouble, Error, Hashable, Sendable {
    /// Deed lacks credentials for the app. The sentence names the missing ones and says how to set them.
    case unconfigured(String)
    case locked(AppID)
    /// The store rejects the key.
    case unauthorized
    /// The store rejects the key, or the key lacks the permission for this call. The sentence gives
    /// the remedy.
    case denied(String, isKey: Bool)
    /// The store offers no such call. The sentence says what to do instead.
    case unsupported(String)
    /// The store refuses the call, and repeating it would not help.
    case refused(code: Int64, message: String, meaning: Meaning? = nil)
    /// The rate limit has been reached, or the store asks for a pause.
    case limited(until: Instant)
    case unavailable(String)
    /// The store could not prove its identity.
    case untrusted(String)
    case unreadable(String)
    /// The answer's signature cannot be verified, or the answer is about something else.
    case foreign(String)
    case endlessPages(limit: Int)
    case fault(Fault)

    /// A refusal's meaning, if it has further consequences.
    package enum Meaning: Hashable, Sendable {
        /// The store does not know the purchase, or no longer has any information about the account.
        case purchaseUnknown
        /// The store has no address for notifications.
        case noAddress
        /// The store does not know the test notification yet.
        case testUnknown
        /// The store no longer reports events from that long ago.
        case tooFarBack
    }

    package var meaning: Meaning? {
        if case .refused(_, _, let meaning) = self { meaning } else { nil }
    }

    package var code: String {
        switch self {
        case .unconfigured: "store_not_configured"
        case .locked: "credentials_locked"
        case .unauthorized, .denied: "store_unauthorized"
        case .unsupported: "store_call_unsupported"
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
        case .unconfigured(let sentence), .denied(let sentence, _): sentence
        case .unsupported(let remedy): "This store does not support that. \(remedy)"
        case .locked(let app):
            "The credentials of \(app) cannot be opened: the installation's key is missing or is "
                + "a different one."
        case .unauthorized:
            "The store rejects the key: check that all its parts belong together, that it was not "
                + "revoked, and that this machine's clock is right."
        case .refused(let code, let message, _):
            "The store refuses the request: \(message.isEmpty ? "no reason is given" : message) (\(code))"
        case .limited(let until):
            "The limit of requests to the store is reached; ask again after \(until.text)."
        case .unavailable(let detail): "The store cannot be reached now: \(detail)"
        case .untrusted(let detail): "The store could not prove its identity: \(detail)"
        case .unreadable(let detail): "The store's answer cannot be read: \(detail)"
        case .foreign(let detail): "The store's answer cannot be trusted: \(detail)"
        case .endlessPages(let limit):
            "The store's pages repeat, do not end or take too long; reading stopped after \(limit)."
        case .fault: "The database could not be reached."
        }
    }

    package var remedy: Remedy? {
        if case .locked = self { .restoreStoreKey } else { nil }
    }

    /// Whether the same call may succeed later without human intervention.
    package var isRetryable: Bool {
        switch self {
        case .limited, .unavailable, .fault: true
        default: false
        }
    }
}
