"""The base of all models."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A part of a request or an answer. Fields that a newer server sends are kept, and its names may be used in place of Python's."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)
