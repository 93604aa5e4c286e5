package import Core

/// What to do after a verifyReceipt status.
package enum ReplyVerdict: Hashable, Sendable {
    case valid
    /// Asking again gives the same answer.
    case refused
    /// The store, or our own set-up, could not decide this time.
    case tryLater
    /// The receipt belongs at the store's host for that environment.
    case otherEnvironment(Environment)

    /// The meaning of a status; the reply's own `is-retryable` counts for internal errors.
    package init(status: Int64, isRetryable: Bool) {
        switch status {
        // An iOS 6 receipt with 21006 is genuine too; its subscription has expired.
        case 0, 21006: self = .valid
        // "The request was not a POST", in answer to a POST: that says nothing about the receipt.
        case 21000: self = .tryLater
        // Malformed, or a temporary fault of the store: the caller gives up in the end.
        case 21001, 21002: self = .tryLater
        case 21003: self = .refused
        // The shared secret is wrong: evidence waits until an operator corrects it.
        case 21004, 21005: self = .tryLater
        case 21007: self = .otherEnvironment(.sandbox)
        case 21008: self = .otherEnvironment(.production)
        case 21009: self = .tryLater
        case 21010: self = .refused
        case 21100...21199: self = isRetryable ? .tryLater : .refused
        // Undocumented statuses keep the receipt rather than drop it.
        default: self = .tryLater
        }
    }
}
