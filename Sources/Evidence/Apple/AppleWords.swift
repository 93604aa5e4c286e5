internal import Core

// Apple's values for the enumerations in facts. An unknown value is kept as Apple wrote it.

extension ProductKind {
    init?(apple word: StoreWord) {
        switch word {
        case "Auto-Renewable Subscription": self = .autoRenewable
        case "Non-Consumable": self = .nonConsumable
        case "Consumable": self = .consumable
        case "Non-Renewing Subscription": self = .nonRenewing
        default: return nil
        }
    }

    /// Reads the number from a receipt. Zero can also mean "unknown" there, so the result is `nil` for zero.
    init?(receiptCode: Int64) {
        switch receiptCode {
        case 1: self = .consumable
        case 2: self = .nonRenewing
        case 3: self = .autoRenewable
        default: return nil
        }
    }
}

extension Ownership {
    init(apple word: StoreWord) {
        switch word {
        case "PURCHASED": self = .purchased
        case "FAMILY_SHARED": self = .familyShared
        default: self = .unknown(word)
        }
    }
}

extension Revocation.Reason {
    init(apple word: StoreWord) {
        switch word {
        case 0: self = .other
        case 1: self = .issueWithApp
        default: self = .unknown(word)
        }
    }
}

extension Revocation.Extent {
    init(apple word: StoreWord) {
        switch word {
        case "REFUND_FULL": self = .full
        case "REFUND_PRORATED": self = .prorated
        case "FAMILY_REVOKE": self = .family
        default: self = .unknown(word)
        }
    }
}

extension Offer.Kind {
    init(apple word: StoreWord) {
        switch word {
        case 1: self = .introductory
        case 2: self = .promotional
        case 3: self = .code
        case 4: self = .winBack
        default: self = .unknown(word)
        }
    }
}

extension Offer.Discount {
    init(apple word: StoreWord) {
        switch word {
        case "FREE_TRIAL": self = .freeTrial
        case "PAY_AS_YOU_GO": self = .payAsYouGo
        case "PAY_UP_FRONT": self = .payUpFront
        case "ONE_TIME": self = .oneTime
        default: self = .unknown(word)
        }
    }
}

extension ExpirationIntent {
    init(apple word: StoreWord) {
        switch word {
        case 1: self = .cancelled
        case 2: self = .billingError
        case 3: self = .priceIncreaseRefused
        case 4: self = .productUnavailable
        case 5: self = .other
        default: self = .unknown(word)
        }
    }
}

extension PriceConsent {
    init(apple word: StoreWord) {
        switch word {
        case 0: self = .pending
        case 1: self = .given
        default: self = .unknown(word)
        }
    }
}

extension RefundReason {
    init(apple word: StoreWord) {
        switch word {
        case "UNINTENDED_PURCHASE": self = .unintendedPurchase
        case "FULFILLMENT_ISSUE": self = .fulfillmentIssue
        case "UNSATISFIED_WITH_PURCHASE": self = .unsatisfied
        case "LEGAL": self = .legal
        case "OTHER": self = .other
        default: self = .unknown(word)
        }
    }
}

extension Environment {
    /// Xcode and local test signing, which count as sandbox. Only an extra root can vouch for them.
    static let localNames = ["Xcode", "LocalTesting"]

    init?(appleName: String) {
        switch appleName {
        case "Production", "ProductionVPP": self = .production
        case "Sandbox", "ProductionSandbox", "ProductionVPPSandbox": self = .sandbox
        case _ where Environment.localNames.contains(appleName): self = .sandbox
        default: return nil
        }
    }
}

extension Heading {
    init(
        kind: EvidenceKind, environmentName: String?, app: AppID?, appleID: Int64?
    ) throws(EvidenceRefusal) {
        guard let environmentName else { throw .invalidMember("environment") }
        guard let environment = Environment(appleName: environmentName) else {
            throw .unknownEnvironment(environmentName)
        }
        self.init(
            kind: kind, environmentName: environmentName, environment: environment, app: app,
            appleID: appleID)
    }
}
