import * as React from "react";

type Props = { title: string; children?: React.ReactNode };

export function Panel({ title, children }: Props): JSX.Element {
  return (
    <section className="panel">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export const Empty: React.FC<Props> = ({ title }) => <Panel title={title}>function no() {"{"}</Panel>;
