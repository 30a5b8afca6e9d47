#!/usr/bin/env node
"use strict";
// function commented() {}
var path = require("path");
let counter = 0, step = 2;

function Shape(x, y) {
  this.x = x;
}

Shape.prototype.area = function () {
  return 0;
};

exports.make = (x, y) => new Shape(x, y);

module.exports.version = "1.0";

async function* walk(root, { deep = true } = {}) {
  yield root;
}

class Circle extends Shape {
  static unit = new Circle(1);
  #radius;
  constructor(radius) {
    super(0, 0);
    this.#radius = radius;
  }
  get radius() { return this.#radius; }
  static async load(url) {
    return `class Fake { ${url} }`;
  }
}

export default class {
  render() {}
}
