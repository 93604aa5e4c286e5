package import Core
package import JSON

/// What a project would like the store to do about a refund.
package enum RefundPreference: String, Hashable, Sendable, CaseIterable {
    case decline = "DECLINE"
    case grantFull = "GRANT_FULL"
    case grantProrated = "GRANT_PRORATED"
}

extension Consumption {
    /// What the App Store is sent about a refund that was asked for; nothing unless the customer agreed
    /// that it is told. The store counts the periods of a subscription by itself, and of anything else
    /// it takes a wish for a share only beside one that is above zero.
    package func appleContent(
        isConsented: Bool, hadSample: Bool, preference: RefundPreference?
    ) -> JSON? {
        if !isConsented { return nil }
        var object = JSONObject()
        object.append("customerConsented", true)
        object.append("sampleContentProvided", .bool(hadSample))
        object.append("deliveryStatus", isDelivered ? "DELIVERED" : "UNDELIVERED_OTHER")
        let used = kind == .autoRenewable ? nil : usedMilliPercent
        if let used { object.append("consumptionPercentage", .integer(used)) }
        if let preference = possible(preference, used) {
            object.append("refundPreference", .string(preference.rawValue))
        }
        return .object(object)
    }

    private func possible(
        _ preference: RefundPreference?, _ used: Int64?
    ) -> RefundPreference? {
        guard preference == .grantProrated, kind != .autoRenewable else { return preference }
        // Of what was not used at all, the share is the whole.
        return used.map { $0 > 0 ? .grantProrated : .grantFull }
    }
}
