import Core
import JSON

extension ConsumptionReport: PayloadCodable {
    var payload: JSON {
        .members([
            "delivery": .string(delivery.word), "sample_provided": .flag(hasSample),
            "used_milli_percent": .number(used), "preference": .text(preference?.rawValue),
        ])
    }

    init(_ payload: Payload) throws {
        let word = try payload.text("delivery")
        guard let delivery = Delivery.allCases.first(where: { $0.word == word }) else {
            throw Payload.Misfit(name: "delivery")
        }
        self.init(
            delivery: delivery, hasSample: try payload.flag("sample_provided"),
            used: try payload.optionalInteger("used_milli_percent"),
            preference: try payload.optionalWord("preference"))
    }
}

extension ConsumptionReport.Delivery {
    fileprivate var word: String { rawValue.lowercased() }
}

extension RefundReportPrepared: PayloadCodable {
    var payload: JSON {
        .members([
            "request": .id(request), "purchase": purchase.payload,
            "transaction": .id(transaction), "report": report.payload,
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            request: try payload.id("request"), purchase: try payload.part("purchase"),
            transaction: try payload.id("transaction"), report: try payload.part("report"))
    }
}

extension RefundReported: PayloadCodable {
    var payload: JSON { .members(["request": .id(request), "purchase": purchase.payload]) }

    init(_ payload: Payload) throws {
        self.init(request: try payload.id("request"), purchase: try payload.part("purchase"))
    }
}

extension RefundUnreported: PayloadCodable {
    var payload: JSON {
        .members([
            "request": .id(request), "purchase": purchase.payload, "why": .string(why.rawValue),
            "detail": .text(detail),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            request: try payload.id("request"), purchase: try payload.part("purchase"),
            why: try payload.word("why"), detail: try payload.optionalText("detail"))
    }
}

extension RefundReport: PayloadCodable {
    var payload: JSON {
        .members([
            "request": .id(request), "report": content?.payload,
            "end": end.map { .string($0.word) },
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            request: try payload.id("request"), content: try payload.optionalPart("report"),
            end: try payload.optionalText("end").map { word in
                if word == RefundReport.End.reported.word { return .reported }
                guard let why = RefundUnreported.Why(rawValue: word) else {
                    throw Payload.Misfit(name: "end")
                }
                return .unreported(why)
            })
    }
}

extension RefundReport.End {
    fileprivate var word: String {
        switch self {
        case .reported: "reported"
        case .unreported(let why): why.rawValue
        }
    }
}
