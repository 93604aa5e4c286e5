import Core
import JSON

extension AccessNotice: PayloadCodable {
    var payload: JSON {
        .members([
            "entitlement": .id(entitlement), "at": .instant(at), "answer": answer.payload,
            "corrects": .text(corrects?.description),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            entitlement: try payload.id("entitlement"), at: try payload.instant("at"),
            answer: try payload.part("answer"),
            corrects: try payload.optionalText("corrects").map { text in
                guard let position = Position(text) else { throw Payload.Misfit(name: "corrects") }
                return position
            })
    }
}

extension AccessAnswer: PayloadCodable {
    var payload: JSON {
        .members([
            "active": .bool(isActive), "since": .instant(run?.start), "until": .instant(run?.end),
            "state": .string(state?.rawValue ?? "none"), "code": .string(code),
            "will_renew": .flag(willRenew), "product": .id(product),
            "source": .text(source?.name),
            source?.name ?? "purchase": .text(source?.origin),
        ])
    }

    init(_ payload: Payload) throws {
        if try payload.text("state") == "none" {
            self = .none
            return
        }
        self.init(
            isActive: try payload.flag("active"),
            run: Interval(
                start: try payload.instant("since"), end: try payload.optionalInstant("until")),
            state: try payload.word("state"), code: try payload.text("code"),
            willRenew: try payload.flag("will_renew"), source: try Entitlement.Source(payload),
            product: try payload.optionalID("product"))
    }
}

extension Entitlement.Source: PayloadCodable {
    var payload: JSON { .members(["source": .string(name), name: .string(origin)]) }

    fileprivate var origin: String {
        switch self {
        case .purchase(let purchase): purchase.description
        case .grant(let grant): grant.text
        case .originalAppVersion(let app): app.text
        }
    }

    init(_ payload: Payload) throws {
        switch try payload.text("source") {
        case "purchase": self = .purchase(try payload.part("purchase"))
        case "grant": self = .grant(try payload.id("grant"))
        case "original_app_version":
            self = .originalAppVersion(try payload.id("original_app_version"))
        default: throw Payload.Misfit(name: "source")
        }
    }
}
