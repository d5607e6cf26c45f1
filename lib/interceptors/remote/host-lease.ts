export class HostLease {
  private readonly held: (() => void)[] = [];
  private isOver = false;

  hold(letGo: () => void): void {
    if (this.isOver) letGo();
    else this.held.push(letGo);
  }

  readonly end = (): void => {
    this.isOver = true;
    for (const letGo of this.held.splice(0)) letGo();
  };
}
