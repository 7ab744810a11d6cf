"""Frames for ParaView as carom writes them by default: VTU files with appended raw arrays."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np

_TYPES = {"Float64": "<f8", "Float32": "<f4", "Int64": "<i8", "Int32": "<i4", "UInt32": "<u4", "UInt8": "u1"}


class Frame:
    """One instant: `time`, reference `points`, `lines` (pairs of points), and arrays by name.

    frame["displacement"] has a row of three for every point, frame["M"] a value for every cell, lines first.
    """

    def __init__(self, time, points, lines, point_data, cell_data, field_data):
        self.time = time
        self.points = points
        self.lines = lines
        self.point_data = point_data
        self.cell_data = cell_data
        self.field_data = field_data

    def __getitem__(self, name):
        for arrays in (self.point_data, self.cell_data, self.field_data):
            if name in arrays:
                return arrays[name]
        known = [*self.point_data, *self.cell_data, *self.field_data]
        raise KeyError(f"there is no array {name!r}; known: {', '.join(known)}")

    @classmethod
    def read(cls, path, time=None):
        """Reads a file; one with compressed arrays needs ParaView or the vtk package, and is refused."""
        with open(path, "rb") as file:
            content = file.read()
        opening = re.search(rb"<AppendedData[^>]*>\s*_", content)
        end = content.rfind(b"</AppendedData>")
        if opening is None or end < opening.end():
            raise ValueError(f"{path}: no appended data; write frames with output.vtk.encoding = \"raw\"")
        head = content[: opening.start()] + b"</VTKFile>"
        try:
            root = ElementTree.fromstring(head)
        except ElementTree.ParseError as error:
            raise ValueError(f"{path}: {error}") from None
        if root.get("compressor"):
            raise ValueError(f"{path}: the arrays are compressed; write frames with output.vtk.encoding = \"raw\"")
        size = 8 if root.get("header_type") == "UInt64" else 4
        raw = content[opening.end() : end]

        def array(entry):
            kind = np.dtype(_TYPES[entry.get("type")])
            start = int(entry.get("offset"))
            length = int.from_bytes(raw[start : start + size], "little")
            block = raw[start + size : start + size + length]
            if len(block) != length or length % kind.itemsize:
                raise ValueError(f"{path}: the array {entry.get('Name')!r} is cut short")
            values = np.frombuffer(block, kind)
            components = int(entry.get("NumberOfComponents") or 1)
            return values.reshape(-1, components) if components > 1 else values

        def group(tag):
            return {entry.get("Name"): array(entry) for part in root.iter(tag) for entry in part.iter("DataArray")}

        points = next(iter(group("Points").values()))
        cells = group("Cells")
        lines = cells["connectivity"][: 2 * int(np.sum(cells["types"] == 3))].reshape(-1, 2)
        fields = {name: values[0] if len(values) == 1 else values for name, values in group("FieldData").items()}
        time = fields.get("TimeValue") if time is None else time
        return cls(time, points, lines, group("PointData"), group("CellData"), fields)
