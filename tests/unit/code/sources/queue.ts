/* A queue of print jobs. function notThis() {} */
import { EventEmitter } from "node:events";

export type JobId = string & { readonly brand: unique symbol };

export interface Job<T = unknown> {
  readonly id: JobId;
  payload: T;
  run(signal: AbortSignal): Promise<void>;
}

export enum State {
  Waiting = "waiting",
  Running = "running",
}

declare module "./plugins" {
  interface Plugin {
    name: string;
  }
}

namespace Limits {
  export const MAX_JOBS = 32;
  export function clamp(count: number): number {
    return Math.min(count, MAX_JOBS);
  }
}

const DEFAULTS = {
  retries: 3,
  delay: (attempt: number) => attempt * 100,
};

export const byId = <T>(jobs: Job<T>[], id: JobId): Job<T> | undefined =>
  jobs.find((job) => job.id === id);

function assertNever(value: never): never;
function assertNever(value: unknown): never {
  throw new Error(`unexpected ${value} class Hidden {`);
}

@sealed({ deep: true })
export class Queue<T> extends EventEmitter implements Iterable<Job<T>> {
  static #instances = 0;
  private waiting: Job<T>[] = [];
  onDrain = async (): Promise<void> => {
    this.emit("drain");
  };

  constructor(private readonly limit = Limits.MAX_JOBS) {
    super();
  }

  get size(): number {
    return this.waiting.length;
  }

  @logged
  async push(
    job: Job<T>, // the newest one
    urgent = false,
  ): Promise<void> {
    const inner = () => job;
    function nested() {}
    this.waiting.push(inner());
  }

  *[Symbol.iterator](): Iterator<Job<T>> {
    yield* this.waiting;
  }
}

export abstract class Sink {
  abstract write(chunk: Uint8Array): void;
}

export default function main(argv: string[]) {
  return new Queue(argv.length);
}
