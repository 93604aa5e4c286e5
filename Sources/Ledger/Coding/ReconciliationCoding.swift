import Core
import JSON

extension ReconciliationStarted: PayloadCodable {
    var payload: JSON {
        .members([
            "reconciliation": .id(reconciliation),
            "steps": .array(plan.steps.map { .string($0.rawValue) }),
            "full": .flag(plan.isFull), "repair": .flag(plan.repairs),
            "requested": .flag(isRequested), "as_of": .instant(plan.asOf),
        ])
    }

    init(_ payload: Payload) throws {
        var plan = ReconcilePlan(
            steps: try payload.texts("steps").compactMap(ReconcileStep.init))
        plan.isFull = try payload.flag("full")
        plan.repairs = try payload.flag("repair")
        plan.asOf = try payload.optionalInstant("as_of")
        self.init(
            reconciliation: try payload.id("reconciliation"), plan: plan,
            isRequested: try payload.flag("requested"))
    }
}

extension ReconciliationFinished: PayloadCodable {
    var payload: JSON {
        var object = JSONObject()
        for step in ReconcileStep.allCases {
            if let counts = steps[step] { object.append(step.rawValue, counts.payload) }
        }
        return .members([
            "reconciliation": .id(reconciliation), "steps": .object(object),
            "errors": .array(errors.map(JSON.string)),
            "notes": notes.isEmpty ? nil : .array(notes.map(JSON.string)),
            "milliseconds": .integer(milliseconds),
        ])
    }

    init(_ payload: Payload) throws {
        var steps: [ReconcileStep: StepCounts] = [:]
        for member in payload.value["steps"]?.object?.members ?? [] {
            guard let step = ReconcileStep(rawValue: member.name) else { continue }
            steps[step] = try StepCounts(Payload(member.value))
        }
        self.init(
            reconciliation: try payload.id("reconciliation"), steps: steps,
            errors: try payload.texts("errors"), notes: try payload.texts("notes"),
            milliseconds: try payload.integer("milliseconds"))
    }
}

extension StepCounts: PayloadCodable {
    var payload: JSON {
        [
            "looked_at": .integer(lookedAt), "found": .integer(found), "mended": .integer(mended),
        ]
    }

    init(_ payload: Payload) throws {
        self.init(
            lookedAt: try payload.integer("looked_at"), found: try payload.integer("found"),
            mended: try payload.integer("mended"))
    }
}
