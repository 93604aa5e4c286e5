import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Webhooks over the API")
struct WebhookCallTests {
    private let service: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    private func call(
        _ method: String, _ path: String = "", _ body: String = "", key: String? = nil
    ) -> Reply {
        service.send(
            method, "/v1/webhooks\(path)", key: admin,
            headers: key.map { [("Idempotency-Key", $0)] } ?? [], body: body)
    }

    private let example = #"{"url":"https://example.com/deed","headers":{"X-Shop":"s3cret"}}"#

    @Test("The twenty-first is refused")
    func many() throws {
        for _ in 1...20 { #expect(call("POST", "", example).status == 201) }
        let refused = call("POST", "", example)
        #expect(refused.status == 409 && refused.code == "too_many_webhooks")
        let first = try #require(try call("GET").json["webhooks"]?.array?.first?["id"]?.string)
        #expect(call("DELETE", "/\(first)").status == 200)
        #expect(call("POST", "", example).status == 201)
        #expect(try call("GET").json["webhooks"]?.array?.count == 20)
    }

    @Test("A repeated creation makes one, and answers the same secrets until they are replaced")
    func repeated() throws {
        let first = call("POST", "", example, key: "a")
        let again = call("POST", "", example, key: "a")
        #expect(first.status == 201 && first.text == again.text, "\(again.text)")
        #expect(first.text.contains("whsec_") && !first.text.contains("s3cret"))
        let other = call(
            "POST", "", #"{"url":"https://example.com/deed","headers":{"X-Shop":"other"}}"#,
            key: "a")
        #expect(other.code == "idempotency_mismatch")
        let id = try #require(try first.json["id"]?.string)
        let rotated = call("POST", "/\(id)/rotate", #"{"overlap":60}"#, key: "b")
        #expect(rotated.status == 200)
        #expect(try rotated.json["secret"] != first.json["secret"])
        #expect(call("POST", "/\(id)/rotate", #"{"overlap":60}"#, key: "b").text == rotated.text)
        #expect(try call("POST", "", example, key: "a").json["secret"] == nil)
        #expect(!call("GET", "/\(id)").text.contains("whsec_"))
        let log = try service.database.text(
            "select string_agg(payload, ' ') from deed.events where type like 'webhook.%'")
        #expect(log.contains("X-Shop") && !log.contains("s3cret") && !log.contains("whsec"))
    }

    @Test("What is not named stays; null takes a rate and a description away")
    func changed() throws {
        let id = try #require(try call("POST", "", example).json["id"]?.string)
        let set = call(
            "PATCH", "/\(id)", #"{"rate":5,"description":"shop","types":["grant.given"]}"#)
        #expect(try set.json["rate"]?.integer == 5)
        let cleared = try call("PATCH", "/\(id)", #"{"rate":null,"description":null}"#).json
        #expect(cleared["rate"]?.isNull == true && cleared["description"]?.isNull == true)
        #expect(cleared["types"]?.array?.count == 1)
        #expect(cleared["headers"]?.array?.first?.string == "X-Shop")
        #expect(try call("POST", "/\(id)/pause").json["state"]?.string == "paused")
        #expect(try call("POST", "/\(id)/resume").json["state"]?.string == "active")
        #expect(call("DELETE", "/\(id)").status == 200)
        #expect(call("GET", "/\(id)").status == 404)
        for table in ["secrets", "places", "waiting", "attempts", "replays"] {
            #expect(try service.database.number("select count(*) from deed.webhook_\(table)") == 0)
        }
    }

    @Test("A creation that died between the event and its secrets is completed by a rotation")
    func halves() throws {
        let id = try #require(try call("POST", "", example).json["id"]?.string)
        for table in ["secrets", "places"] {
            try service.database.run("delete from deed.webhook_\(table)")
        }
        #expect(try call("GET", "/\(id)").json["state"]?.string == "parked")
        let rotated = call("POST", "/\(id)/rotate")
        #expect(rotated.text.contains("whsec_"))
        #expect(try service.database.number("select count(*) from deed.webhook_places") == 1)
        #expect(try call("GET", "/\(id)").json["state"]?.string == "active")
    }

    @Test("A removal that died before its secrets were forgotten is completed by another one")
    func remains() throws {
        let id = try #require(try call("POST", "", example).json["id"]?.string)
        let row = try service.database.text("select s::text from deed.webhook_secrets as s")
        #expect(call("DELETE", "/\(id)").status == 200)
        try service.database.run(
            "insert into deed.webhook_secrets select (('\(row)'::deed.webhook_secrets)).*")
        #expect(call("DELETE", "/\(id)").code == "webhook_unknown")
        #expect(try service.database.number("select count(*) from deed.webhook_secrets") == 0)
    }

    @Test("One idempotency key stands for one replay, also while it is under way")
    func replays() throws {
        let id = try #require(try call("POST", "", example).json["id"]?.string)
        func range(_ year: Int) -> String {
            #"{"since":"\#(year)-01-01T00:00:00Z","until":"\#(year)-02-01T00:00:00Z"}"#
        }
        let first = call("POST", "/\(id)/replay", range(2025), key: "r")
        #expect(first.status == 202)
        #expect(call("POST", "/\(id)/replay", range(2025), key: "r").text == first.text)
        #expect(call("POST", "/\(id)/replay", range(2024), key: "r").code == "idempotency_mismatch")
        // A future end is cut to the last event, and a repetition counts as the same request.
        let ahead = call("POST", "/\(id)/replay", range(2099), key: "ahead")
        #expect(ahead.status == 202)
        #expect(call("POST", "/\(id)/replay", range(2099), key: "ahead").text == ahead.text)
        #expect(try call("GET", "/\(id)/deliveries").json["replays"]?.array?.count == 2)
        for _ in 3...10 { #expect(call("POST", "/\(id)/replay", range(2025)).status == 202) }
        #expect(call("POST", "/\(id)/replay", range(2025)).code == "too_many_replays")
        #expect(call("POST", "/\(id)/replay", #"{"event":"0-1-00000000"}"#).status == 404)
    }

    @Test("The lag counts events of the webhook's own project alone")
    func lag() throws {
        let id = try #require(try call("POST", "", example).json["id"]?.string)
        func lag() throws -> Int64? { try call("GET", "/\(id)").json["lag"]?.integer }
        let before = try #require(try lag())
        for number in 1...5 {
            _ = try service.ledger.append(
                .give("pro", to: .test("u\(number)", project: "other"), grant: "g\(number)"))
        }
        #expect(try lag() == before)
        for number in 1...3 {
            _ = try service.ledger.append(
                .give("pro", to: .test("u\(number)"), grant: "g\(number)"))
        }
        #expect(try lag() == before + 3)
    }
}
