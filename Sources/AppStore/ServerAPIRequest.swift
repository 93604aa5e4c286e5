internal import Core
internal import JSON
internal import Outbound

/// The HTTP request for a call to Apple's server API.
struct ServerAPIRequest {
    let method: String
    let path: String
    private(set) var query: [(String, String)] = []
    private(set) var body: JSON?

    init(_ call: StoreCall) {
        switch call {
        case .transaction(let id):
            self.init("GET", "v1/transactions/\(id.segment)")
        case .installation(let id):
            self.init("GET", "v1/transactions/appTransactions/\(id.segment)")
        case .standings(let id):
            self.init("GET", "v1/subscriptions/\(id.segment)")
        case .history(let id, let filter, let after):
            self.init("GET", "v2/history/\(id.segment)", query: filter.query + revision(after))
        case .refunds(let id, let after):
            self.init("GET", "v2/refund/lookup/\(id.segment)", query: revision(after))
        case .order(let number):
            self.init("GET", "v1/lookup/\(segment(number))")
        case .notifications(let filter, let after):
            self.init(
                "POST", "v1/notifications/history",
                query: after.map { [("paginationToken", $0)] } ?? [], body: filter.json)
        // The client refuses `probe` and `reading` before this point.
        case .test, .probe, .reading:
            self.init("POST", "v1/notifications/test")
        case .testResult(let token):
            self.init("GET", "v1/notifications/test/\(segment(token))")
        case .finish(let id):
            self.init("POST", "v1/transactions/\(id.segment)/finish")
        case .setToken(let token, let id):
            self.init(
                "PUT", "v1/transactions/\(id.segment)/appAccountToken",
                body: ["appAccountToken": .string(token.text)])
        case .extend(let id, let terms):
            self.init("PUT", "v1/subscriptions/extend/\(id.segment)", body: .object(terms.object))
        case .extendAll(let product, let terms, let countries):
            self.init("POST", "v1/subscriptions/extend/mass", body: terms.all(product, countries))
        case .extendAllResult(let product, let request):
            let target = "\(segment(product.text))/\(segment(request))"
            self.init("GET", "v1/subscriptions/extend/mass/\(target)")
        case .consumption(let report, let id):
            self.init("PUT", "v2/transactions/consumption/\(id.segment)", body: report.json)
        }
    }

    private init(
        _ method: String, _ path: String, query: [(String, String)] = [], body: JSON? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
    }

    func outbound(to host: String, token: String) -> OutboundRequest {
        let parameters = query.map { "\($0.0)=\(segment($0.1))" }.joined(separator: "&")
        var headers = [("Authorization", "Bearer \(token)"), ("Accept", "application/json")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        return OutboundRequest(
            method, "\(host)/inApps/\(path)" + (parameters.isEmpty ? "" : "?\(parameters)"),
            headers: headers, body: body?.bytes ?? [])
    }
}

private func revision(_ token: String?) -> [(String, String)] {
    token.map { [("revision", $0)] } ?? []
}

/// Returns the string, encoded for use as one segment of a path or a query.
private func segment(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
            encoded.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            let digits = Array("0123456789ABCDEF")
            encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
    }
    return encoded
}

extension TransactionID {
    fileprivate var segment: String { AppStore.segment(text) }
}

extension HistoryFilter {
    fileprivate var query: [(String, String)] {
        var query = [("sort", "ASCENDING")]
        if let start { query.append(("startDate", "\(start.milliseconds)")) }
        if let end { query.append(("endDate", "\(end.milliseconds)")) }
        if let product { query.append(("productId", product.text)) }
        if let isRevoked { query.append(("revoked", "\(isRevoked)")) }
        return query
    }
}

extension NotificationFilter {
    fileprivate var json: JSON {
        var object = JSONObject()
        object.append("startDate", .integer(start.milliseconds))
        object.append("endDate", .integer(end.milliseconds))
        if let transaction { object.append("transactionId", .string(transaction.text)) }
        if let type { object.append("notificationType", .string(type)) }
        if onlyFailures { object.append("onlyFailures", true) }
        return .object(object)
    }
}

extension RenewalExtension {
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.append("extendByDays", .integer(days))
        object.append("extendReasonCode", .integer(why.rawValue))
        object.append("requestIdentifier", .string(request))
        return object
    }

    fileprivate func all(_ product: ProductID, _ countries: [String]) -> JSON {
        var object = object
        object.append("productId", .string(product.text))
        if !countries.isEmpty {
            object.append("storefrontCountryCodes", .array(countries.map(JSON.string)))
        }
        return .object(object)
    }
}

extension ConsumptionReport {
    fileprivate var json: JSON {
        var object = JSONObject()
        object.append("customerConsented", true)
        object.append("deliveryStatus", .string(delivery.rawValue))
        object.append("sampleContentProvided", .bool(hasSample))
        if let used { object.append("consumptionPercentage", .integer(used)) }
        if let preference {
            object.append("refundPreference", .string(preference.rawValue.uppercased()))
        }
        return .object(object)
    }
}
