import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Notes about customers over the API")
struct NoteCallTests {
    private let service: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    private func send(
        _ method: String, _ target: String, _ body: String = "", key: NewKey? = nil,
        idempotencyKey: String? = nil
    ) -> Reply {
        service.send(
            method, "/v1/customers/\(target)", key: key ?? admin, body: body,
            idempotencyKey: idempotencyKey)
    }

    private func add(_ text: String, to customer: String = "u1") throws -> String {
        let reply = send("POST", "\(customer)/notes", #"{"text":"\#(text)","ticket":"T-7"}"#)
        #expect(reply.status == 201, "\(reply.text)")
        return try #require(try reply.json["note"]?["id"]?.string)
    }

    private func texts(of customer: String = "u1", _ query: String = "") throws -> [String] {
        let notes = try send("GET", "\(customer)/notes\(query)").json["notes"]?.array
        return try #require(notes).compactMap { $0["text"]?.string }
    }

    @Test("A note is listed with who wrote it and when, and everything tells of it")
    func added() throws {
        let note = try add("plays on two phones")
        let listed = try #require(try send("GET", "u1/notes").json["notes"]?.array?.first)
        #expect(listed["id"]?.string == note)
        #expect(listed["at"]?.string == "2026-11-20T19:21:00.000Z")
        #expect(listed["by"]?.string?.hasPrefix("key:") == true)
        #expect(listed["ticket"]?.string == "T-7")
        let trail = try service.send("GET", "/v1/trail?ticket=T-7", key: admin).json
        #expect(trail["entries"]?.array?.first?["action"]?.string == "note.added")
        #expect(try texts(of: "u1", "?environment=sandbox") == [])
        #expect(try texts(of: "u2") == [])
    }

    @Test("The same key writes one note, and the same answer comes again after its removal")
    func repeated() throws {
        let body = #"{"text":"calls often"}"#
        let first = send("POST", "u1/notes", body, idempotencyKey: "k")
        let note = try #require(try first.json["note"]?["id"]?.string)
        #expect(try texts() == ["calls often"])
        let removed = send(
            "DELETE", "u1/notes/\(note)", #"{"reason":"old"}"#, idempotencyKey: "d")
        #expect(removed.status == 200)
        #expect(send("POST", "u1/notes", body, idempotencyKey: "k").text == first.text)
        let again = send("DELETE", "u1/notes/\(note)", #"{"reason":"old"}"#, idempotencyKey: "d")
        #expect(again.text == removed.text)
        #expect(try texts() == [])
    }

    @Test(
        "What is wrong is named, and nothing is written",
        arguments: [
            ("POST", "u1/notes", "{}", 400, "text"),
            ("POST", "u1/notes", #"{"text":" "}"#, 400, "text"),
            ("POST", "u1/notes", #"{"text":"a","ticket":""}"#, 400, "ticket"),
            ("POST", "u1/notes", #"{"text":"a\u0007"}"#, 400, "text"),
            ("POST", "u1/notes", #"{"text":"a","reason":"r"}"#, 400, "reason"),
            ("POST", "u1/notes", #"{"text":7}"#, 400, "text"),
            ("DELETE", "u1/notes/n_none", #"{"reason":"r"}"#, 404, nil),
            ("DELETE", "u1/notes/n_none", #"{"reason":"  "}"#, 400, "reason"),
            ("POST", "$project%2Fx/notes", #"{"text":"a"}"#, 400, "customer"),
        ] as [(String, String, String, Int, String?)])
    func bad(_ method: String, _ target: String, _ body: String, _ status: Int, _ member: String?)
        throws
    {
        let before = try service.eventCount()
        let reply = send(method, target, body)
        #expect(reply.status == status, "\(reply.text)")
        #expect(try reply.json["member"]?.string == member)
        #expect(try service.eventCount() == before)
    }

    @Test("Support writes with a ticket, a back end reads, and a reader changes nothing")
    func roles() throws {
        let support = try service.key(.support)
        let bare = send("POST", "u1/notes", #"{"text":"a"}"#, key: support)
        #expect(bare.code == "ticket_missing")
        let noted = send("POST", "u1/notes", #"{"text":"a","ticket":"T-1"}"#, key: support)
        #expect(noted.status == 201)
        let reader = try service.key(.reader)
        #expect(send("GET", "u1/notes", key: reader).status == 200)
        for key in [reader, try service.key(.backend)] {
            #expect(send("POST", "u1/notes", #"{"text":"b"}"#, key: key).status == 403)
        }
    }

    @Test("After a merge each note stays where it was written")
    func merged() throws {
        let note = try add("first phone", to: "a1")
        _ = try add("known player", to: "b1")
        let merged = send("POST", "a1/merge", #"{"into":"b1","reason":"new phone"}"#)
        #expect(merged.status == 200, "\(merged.text)")
        #expect(try texts(of: "b1") == ["known player"])
        #expect(try texts(of: "a1") == ["first phone"])
        #expect(send("POST", "a1/notes", #"{"text":"b"}"#).code == "customer_merged")
        #expect(send("DELETE", "a1/notes/\(note)", #"{"reason":"wrong"}"#).status == 200)
        #expect(try texts(of: "a1") == [])
    }
}
