import API
import Core
import Foundation
import JSON
import Service
import TestSupport
import Testing

/// Compares the limits and headers in the document with the service.
@Suite("The limits and headers of the document", .timeLimit(.minutes(20)))
struct DocumentLimitTests {
    private let document: APIDocument
    private let service: TestService
    private let admin: NewKey

    init() throws {
        document = try APIDocument.current.get()
        service = try TestService()
        admin = try service.key(.admin)
    }

    // MARK: Limits of requests

    /// The reason for a refusal.
    private struct No: Hashable {
        let status: Int
        let code: String
        let member: String?
        /// The paths of the mistakes in a catalog.
        let places: [String]
    }

    private func no(_ reply: Reply) throws -> No? {
        if reply.status < 400 { return nil }
        let json = try reply.json
        return No(
            status: reply.status, code: json["code"]?.string ?? "", member: json["member"]?.string,
            places: (json["errors"]?.array ?? []).map { $0["path"]?.string ?? "" })
    }

    /// Sends a value within the limit and one beyond it. The service may refuse the first value
    /// only for a different reason.
    private func hold(
        _ probe: LimitProbe, of call: String, plain: () throws -> Reply,
        _ ask: (JSON) throws -> Reply
    ) throws {
        let within = try no(try ask(probe.within))
        let name = "\(probe.limit) of \(call), \(probe.value)"
        guard let value = probe.beyond else {
            let usual = try no(try plain())
            #expect(within == usual, "\(name): there is a limit that the document does not have")
            return
        }
        let beyond = try no(try ask(value))
        #expect(beyond?.status == 400, "\(name): what is beyond is taken")
        #expect(within != beyond, "\(name): what is within is refused for the same reason")
    }

    /// The operations to test. The suite of the test clock covers the operation that sets it.
    private var operations: [APIDocument.Operation] {
        document.operations.filter { !$0.pattern.hasSuffix("/test/clock") }
    }

    @Test("Bodies have exactly the limits that the document states")
    func bodies() throws {
        var asked: Set<DocumentLimit> = []
        for operation in operations {
            let content = operation.json["requestBody"]?["content"]?["application/json"]
            guard let content, let schema = content["schema"] else { continue }
            let sample = content["example"] ?? document.sample(of: schema)
            var probes = LimitProbes(document)
            probes.visit(schema, operation.pattern, sample)
            for probe in probes.found where !isHeldElsewhere(probe) {
                func ask(_ body: JSON) -> Reply {
                    service.send(
                        operation.method, document.target(of: operation),
                        key: operation.json["x-roles"] == nil ? nil : admin, body: body.text)
                }
                let call = "\(operation.method) \(operation.pattern)"
                try hold(probe, of: call, plain: { ask(sample) }, ask)
                asked.insert(probe.limit)
            }
        }
        #expect(asked.count > 60)
    }

    /// Returns whether other tests cover the limit.
    private func isHeldElsewhere(_ probe: LimitProbe) -> Bool {
        probe.beyond == nil && probe.limit.place.hasPrefix("NewCredentials.")
            || probe.limit.keyword == "maxItems" && probe.limit.place.hasSuffix(".types")
            || probe.limit.place == "Erasure.intent"
    }

    /// Returns whether another test covers the parameter. A text of the right length is not enough
    /// for `after`: a feed's cursor is sealed, and a page of keys follows a key.
    private func isHeldElsewhere(_ parameter: String, of operation: APIDocument.Operation) -> Bool {
        parameter == "If-None-Match"
            || parameter == "after" && ["/v1/events", "/v1/keys"].contains(operation.pattern)
    }

    @Test("Values in a path, a query or a header have the lengths that the document states")
    func parameters() throws {
        var asked = 0
        for operation in operations {
            for parameter in document.parameters(of: operation) {
                guard let name = parameter["name"]?.string, let schema = parameter["schema"],
                    let place = parameter["in"]?.string
                else { continue }
                var probes = LimitProbes(document)
                probes.visit(schema, name, parameter["example"] ?? .null)
                for probe in probes.found where !isHeldElsewhere(name, of: operation) {
                    try hold(
                        probe, of: "\(operation.method) \(operation.pattern)",
                        plain: { self.ask(operation) }
                    ) { value in
                        let text = value.string ?? value.text
                        return switch place {
                        case "header": self.ask(operation, headers: [(name, text)])
                        case "path": self.ask(operation, [name: text])
                        default: self.ask(operation, query: [(name, text)])
                        }
                    }
                    asked += 1
                }
            }
        }
        #expect(asked > 150)
    }

    private func ask(
        _ operation: APIDocument.Operation, _ arguments: [String: String] = [:],
        query: [(String, String)] = [], headers: [(String, String)] = []
    ) -> Reply {
        var target = document.target(of: operation, arguments)
        var query = query
        for parameter in document.parameters(of: operation)
        where parameter["in"] == "query" {
            let name = parameter["name"]?.string ?? ""
            // Calls without a body take the admin's reason as a parameter.
            if parameter["required"] != true && name != "reason" { continue }
            if query.contains(where: { $0.0 == name }) { continue }
            query.append((name, parameter["example"]?.string ?? ""))
        }
        if !query.isEmpty {
            target += "?" + query.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        }
        // With a body, additional parameters are refused.
        let content = operation.json["requestBody"]?["content"]?["application/json"]
        let isInBody = operation.json["requestBody"]?["required"] == true
        let body =
            isInBody
            ? content.map { $0["example"] ?? document.sample(of: $0["schema"] ?? .null) } : nil
        return service.send(
            operation.method, target, key: operation.json["x-roles"] == nil ? nil : admin,
            headers: headers, body: body?.text ?? "")
    }

    // MARK: Limits of answers

    @Test("The limits of answers are exactly those of the rules")
    func answers() throws {
        var written: [DocumentLimit: Int64] = [:]
        var requested: Set<DocumentLimit> = []
        for operation in document.operations {
            if let schema = operation.json["requestBody"]?["content"]?["application/json"]?[
                "schema"]
            {
                var probes = LimitProbes(document)
                probes.visit(schema, "", document.sample(of: schema))
                requested.formUnion(probes.found.filter { $0.beyond != nil }.map(\.limit))
            }
            for parameter in document.parameters(of: operation) {
                var probes = LimitProbes(document)
                probes.visit(parameter["schema"] ?? .null, "", parameter["example"] ?? .null)
                requested.formUnion(probes.found.filter { $0.beyond != nil }.map(\.limit))
            }
        }
        for member in document.json["components"]?["schemas"]?.object?.members ?? [] {
            collect(member.value, member.name, into: &written)
        }
        for limit in requested { written[limit] = nil }
        let page = QueryParameters.pageLimit
        let most = CreditLimit.range.upperBound
        let expected: [String: Int64] = [
            "QueryAnswer.answers maxItems": Int64(QueryRoutes.customerLimit),
            "OrdersAnswer.orders maxItems": page, "EventsAnswer.events maxItems": page,
            "FeedAnswer.events maxItems": page, "GrantList.grants maxItems": page,
            "KeyList.keys maxItems": page, "Trail.entries maxItems": page,
            "NoteList.notes maxItems": Int64(CustomerState.noteLimit),
            "Settings.support_limits maxProperties": Int64(SupportLimits.countLimit),
            "WebhookList.webhooks maxItems": Int64(Webhook.countLimit),
            "Webhook.headers maxItems": Int64(Webhook.headerLimit),
            "NewWebhookAnswer.headers maxItems": Int64(Webhook.headerLimit),
            "DeliveryList.deliveries maxItems": page,
            "DeliveryList.waiting maxItems": Int64(Webhooks.waitingListed),
            "DeliveryList.replays maxItems": Int64(Webhooks.replaysListed),
            "FeedAnswer.next maxLength": Int64(FeedCursor.lengthLimit),
            "Problem.restart maxLength": Int64(FeedCursor.lengthLimit),
            "MovementsAnswer.movements maxItems": page, "UnclaimedAnswer.purchases maxItems": page,
            "ReconciliationList.reconciliations maxItems": Int64(Reconciliation.limit),
            "CatalogStep.customers maxItems": Int64(AccessCounts.listLimit),
            "CatalogStep.warnings maxItems": Int64(JSON.problemLimit),
            "Problem.errors maxItems": Int64(JSON.problemLimit),
            "App.sandbox_customers maxItems": Int64(App.listedCustomerLimit),
            "SettingsAnswer.apps maxItems": Int64(ProjectState.appLimit),
            "AllowedApps.bundle_ids maxItems": Int64(AppAllowances.countLimit),
            "AllowedApps.others maxItems": Int64(AppAllowances.countLimit),
            "Settings.customers_per_account minimum": ProjectSettings.accountLimits.lowerBound,
            "Settings.customers_per_account maximum": ProjectSettings.accountLimits.upperBound,
            "Settings.credit_limits maxProperties": Int64(CreditLimit.countLimit),
            "CreditLimit.per_call maximum": most, "CreditLimit.per_call minimum": 1,
            "CreditLimit.per_day maximum": most, "CreditLimit.per_day minimum": 1,
            "Amount maximum": .max, "Amount minimum": .min, "Count minimum": 0,
            "OrdersAnswer.next minimum": 0, "EventsAnswer.next minimum": 0,
            "MovementsAnswer.next minimum": 0, "Problem.status minimum": 400,
            "Problem.status maximum": 599, "RefundRequest.used_milli_percent minimum": 0,
            "RefundRequest.used_milli_percent maximum": 100_000,
        ]
        #expect(
            Dictionary(uniqueKeysWithValues: written.map { ($0.key.description, $0.value) })
                == expected)
    }

    private func collect(_ schema: JSON, _ place: String, into limits: inout [DocumentLimit: Int64])
    {
        for keyword in DocumentLimit.keywords {
            if let value = schema[keyword]?.integer {
                limits[DocumentLimit(place: place, keyword: keyword)] = value
            }
        }
        for member in schema["properties"]?.object?.members ?? [] {
            collect(member.value, "\(place).\(member.name)", into: &limits)
        }
        for (name, mark) in [("items", "[]"), ("additionalProperties", "{}")] {
            if let inner = schema[name] { collect(inner, place + mark, into: &limits) }
        }
        for alternative in schema["oneOf"]?.array ?? [] {
            collect(alternative, place, into: &limits)
        }
    }

    // MARK: Headers

    @Test("Each call reads the headers in the document, and ignores the others")
    func requestHeaders() throws {
        let written = document.operations.flatMap { document.parameters(of: $0) }
            .filter { $0["in"] == "header" }.compactMap { $0["name"]?.string }
        #expect(Set(written) == Set(RequestHeader.allCases.map { "\($0.name)" }))
        for operation in document.operations where operation.json["x-roles"] != nil {
            let listed = document.parameters(of: operation).filter { $0["in"] == "header" }
                .compactMap { $0["name"]?.string }
            for header in RequestHeader.allCases {
                let name = "\(header.name)"
                let twice = try no(ask(operation, headers: [(name, "1:1"), (name, "1:2")]))
                #expect(
                    (twice?.member == name) == listed.contains(name),
                    "\(operation.method) \(operation.pattern) and \(name)")
            }
        }
    }

    @Test("A position beyond the log is refused wherever the document has Deed-After")
    func unreached() throws {
        for operation in operations where operation.json["x-roles"] != nil {
            let listed = document.parameters(of: operation).contains { $0["name"] == "Deed-After" }
            let reply = ask(operation, headers: [("Deed-After", "1:999999")])
            #expect(
                (try no(reply)?.code == "position_not_reached") == listed,
                "\(operation.method) \(operation.pattern): \(reply.text.prefix(200))")
        }
    }

    @Test("The headers of answers in the document are those of the service")
    func answerHeaders() {
        var written: Set<String> = []
        for operation in document.operations {
            for answer in operation.json["responses"]?.object?.members ?? [] {
                let headers = document.resolve(answer.value)["headers"]?.object?.members ?? []
                written.formUnion(headers.map(\.name))
                #expect(
                    headers.contains { $0.name == AnswerHeader.testClock.rawValue },
                    "\(operation.method) \(operation.pattern) \(answer.name)")
            }
        }
        // Leaves out the headers that every body has, or that answer an unsupported method.
        let told: Set<AnswerHeader> = [.contentType, .allowedMethods]
        #expect(
            written == Set(AnswerHeader.allCases.filter { !told.contains($0) }.map(\.rawValue)))
    }

    @Test("Without the database, exactly the answers marked in the document can be stale")
    func stale() throws {
        let reads = operations.filter {
            $0.json["x-roles"] != nil && ($0.method == "GET" || $0.pattern.hasSuffix("/query"))
        }
        // Makes each call once first, so that memory holds the answers.
        for operation in reads { _ = ask(operation) }
        try service.database.drop()
        service.outage.advance(byMilliseconds: 3000)
        var stale: [String] = []
        var written: [String] = []
        for operation in reads {
            for status in ["200", "304"] {
                let answer = operation.json["responses"]?[status].map(document.resolve)
                if answer?["headers"]?["Deed-Stale"] != nil {
                    written.append("\(operation.pattern) \(status)")
                }
            }
            let reply = ask(operation)
            if reply.header(AnswerHeader.staleness.rawValue) != nil {
                stale.append("\(operation.pattern) \(reply.status)")
            }
            guard let tag = reply.header(AnswerHeader.tag.rawValue) else { continue }
            let again = ask(operation, headers: [("If-None-Match", tag)])
            if again.header(AnswerHeader.staleness.rawValue) != nil {
                stale.append("\(operation.pattern) \(again.status)")
            }
        }
        #expect(Set(stale) == Set(written))
    }
}

extension APIDocument {
    fileprivate func parameters(of operation: Operation) -> [JSON] {
        (operation.json["parameters"]?.array ?? []).map(resolve)
    }

    /// Returns the path with its arguments. Missing ones come from the document's examples.
    fileprivate func target(
        of operation: Operation, _ arguments: [String: String] = [:]
    ) -> String {
        parameters(of: operation).filter { $0["in"] == "path" }.reduce(operation.pattern) {
            let name = $1["name"]?.string ?? ""
            let value = arguments[name] ?? $1["example"]?.string ?? ""
            return $0.replacing("{\(name)}", with: value.percentEncoded)
        }
    }
}

extension String {
    fileprivate var percentEncoded: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self
    }
}
