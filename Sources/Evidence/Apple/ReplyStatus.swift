package import Core

/// What to do after a verifyReceipt reply with some status.
package enum ReplyVerdict: Hashable, Sendable {
    case valid
    /// Asking again would give the same answer.
    case refused
    /// The store could not decide this time, or Deed's configuration is at fault.
    case tryLater
    /// The receipt belongs to the host for that environment.
    case otherEnvironment(Environment)

    /// The meaning of a status. For internal errors, the reply's own `is-retryable` decides.
    package init(status: Int64, isRetryable: Bool) {
        switch status {
        // An iOS 6 receipt with 21006 is genuine too; its subscription has expired.
        case 0, 21006: self = .valid
        // Apple answers "The request was not a POST" to a POST, which says nothing about the receipt.
        case 21000: self = .tryLater
        // The receipt is malformed, or the store has a temporary fault. The caller stops after some tries.
        case 21001, 21002: self = .tryLater
        case 21003: self = .refused
        // The shared secret is wrong. The evidence waits until an operator corrects it.
        case 21004, 21005: self = .tryLater
        case 21007: self = .otherEnvironment(.sandbox)
        case 21008: self = .otherEnvironment(.production)
        case 21009: self = .tryLater
        case 21010: self = .refused
        case 21100...21199: self = isRetryable ? .tryLater : .refused
        // For an undocumented status, Deed keeps the receipt.
        default: self = .tryLater
        }
    }
}
