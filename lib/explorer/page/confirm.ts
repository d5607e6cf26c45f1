import { button, h, newId } from './dom.js';

/** Asks before something happens that may not be undone. */
export function confirmed(question: string, verb: string): Promise<boolean> {
  const id = newId();
  const cancel = button('Cancel', () => dialog.close());
  const dialog: HTMLDialogElement = h(
    'dialog',
    { 'aria-labelledby': id },
    h('p', { id }, question),
    h(
      'div.row',
      cancel,
      button(verb, () => dialog.close('yes'), 'danger'),
    ),
  );
  document.getElementById('content')?.append(dialog);
  dialog.showModal();
  cancel.focus();
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}
