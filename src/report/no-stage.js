// A system without a shape has no animation: clicks into a plot move the cursors of all others.
class Stage {
  constructor(element, film, moved) {
    element.remove();
    this.moved = moved;
    this.end = 0;
  }
  seek(time) {
    this.moved(time);
  }
  refresh() {}
  toggle() {}
  step() {}
  faster() {}
}
