package import Core

/// What the status of a verifyReceipt reply tells to do.
package enum ReplyVerdict: Hashable, Sendable {
    case valid
    /// Asking again gives the same answer.
    case refused
    /// The store, or our own set-up, could not tell this time.
    case tryLater
    /// The receipt is to be sent to the store's host for that environment.
    case otherEnvironment(Environment)

    /// What a status means; the reply's own `is-retryable` counts for internal errors.
    package init(status: Int64, isRetryable: Bool) {
        switch status {
        // An iOS 6 receipt with 21006 is genuine too; the subscription in it has run out.
        case 0, 21006: self = .valid
        // "The request was not a POST", in answer to a POST: that tells nothing of the receipt.
        case 21000: self = .tryLater
        // Malformed, or a passing fault of the store: it is for the caller to give up in the end.
        case 21001, 21002: self = .tryLater
        case 21003: self = .refused
        // The shared secret is wrong: evidence waits until an operator mends that.
        case 21004, 21005: self = .tryLater
        case 21007: self = .otherEnvironment(.sandbox)
        case 21008: self = .otherEnvironment(.production)
        case 21009: self = .tryLater
        case 21010: self = .refused
        case 21100...21199: self = isRetryable ? .tryLater : .refused
        // What no document explains is kept rather than dropped.
        default: self = .tryLater
        }
    }
}
