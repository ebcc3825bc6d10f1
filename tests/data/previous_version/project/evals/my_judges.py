from scoregate.judges import BinaryResponse, CategoricalResponse, Category, Judge, NumericResponse


class Tone(CategoricalResponse):
    categories = [Category(value="kind", score=1), Category(value="cold", score=0)]


class Short(Judge[BinaryResponse]):
    async def score(self, data) -> BinaryResponse:
        return BinaryResponse(value=len(data["expected_output"]) < 80, reason="counted")


class Length(Judge[NumericResponse]):
    async def score(self, data) -> NumericResponse:
        return NumericResponse(value=min(1, len(data["expected_output"]) / 80), reason="counted")


class ToneOf(Judge[Tone]):
    async def score(self, data) -> Tone:
        return Tone(value="kind", reason="always")
