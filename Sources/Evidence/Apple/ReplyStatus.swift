package import Core

/// What a verifyReceipt reply's status means for the receipt.
package enum ReplyVerdict: Hashable, Sendable {
    case valid
    /// Asking again would give the same answer.
    case refused
    /// The store could not decide this time, or Deed's configuration is wrong.
    case tryLater
    /// The receipt belongs to the host for that environment.
    case otherEnvironment(Environment)

    /// The meaning of a status. For internal errors, it depends on the reply's own `is-retryable`.
    package init(status: Int64, isRetryable: Bool) {
        switch status {
        // An iOS 6 receipt with status 21006 is also genuine, but its subscription has expired.
        case 0, 21006: self = .valid
        // Apple answers "The request was not a POST" even to a POST, so this status says nothing about the receipt.
        case 21000: self = .tryLater
        // Either the receipt is malformed, or the store has a temporary fault. The caller gives up after a few tries.
        case 21001, 21002: self = .tryLater
        case 21003: self = .refused
        // The shared secret is wrong. The evidence waits until an operator corrects it.
        case 21004, 21005: self = .tryLater
        case 21007: self = .otherEnvironment(.sandbox)
        case 21008: self = .otherEnvironment(.production)
        case 21009: self = .tryLater
        case 21010: self = .refused
        case 21100...21199: self = isRetryable ? .tryLater : .refused
        // Deed keeps a receipt with an undocumented status.
        default: self = .tryLater
        }
    }
}
