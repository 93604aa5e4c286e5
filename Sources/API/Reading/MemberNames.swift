import JSON

/// Members of answers about entitlements.
extension JSONName {
    static let customer = JSONName("customer")
    static let environment = JSONName("environment")
    static let at = JSONName("at")
    static let position = JSONName("position")
    static let nextChange = JSONName("next_change")
    static let mergedInto = JSONName("merged_into")
    static let entitlements = JSONName("entitlements")

    // Members of each entitlement.
    static let active = JSONName("active")
    static let since = JSONName("since")
    static let until = JSONName("until")
    static let state = JSONName("state")
    static let code = JSONName("code")
    static let willRenew = JSONName("will_renew")
    static let product = JSONName("product")
    static let kind = JSONName("kind")
    static let source = JSONName("source")
    static let purchase = JSONName("purchase")
    static let grant = JSONName("grant")
    static let sandbox = JSONName("sandbox")
    static let nextProduct = JSONName("next_product")
    static let expirationReason = JSONName("expiration_reason")
}
