// The address: what is chosen, after the #, as far as it differs from the default, so that a link, a reload and
// the back button lead to the same pairs.

const isChoice = (control) => ["checkbox", "radio"].includes(control.type);

function isDefault(control) {
  if (isChoice(control)) return control.checked === control.defaultChecked;
  if (control.options) return Boolean(control.selectedOptions[0]?.defaultSelected);
  return control.value === control.defaultValue;
}

function setDefault(control) {
  if (isChoice(control)) control.checked = control.defaultChecked;
  else if (control.options) control.value = [...control.options].find((option) => option.defaultSelected).value;
  else control.value = control.defaultValue;
}

function controlsByName(form) {
  const groups = new Map();
  for (const control of form.elements)
    if (control.name) groups.set(control.name, [...(groups.get(control.name) ?? []), control]);
  return groups;
}

function writeAddress(form) {
  const address = new URLSearchParams();
  for (const [name, controls] of controlsByName(form)) {
    if (controls.every(isDefault)) continue;
    const values = controls.filter((control) => !isChoice(control) || control.checked).map(({ value }) => value);
    for (const value of values.length ? values : [""]) address.append(name, value); // an empty value is no choice
  }
  return address;
}

// Set the controls by an address. What a control cannot hold is left at its default.
function readAddress(form, address) {
  for (const [name, controls] of controlsByName(form)) {
    const values = address.getAll(name);
    for (const control of controls) {
      setDefault(control);
      if (!values.length) continue;
      if (isChoice(control)) control.checked = values.includes(control.value);
      else if (control.options && ![...control.options].some(({ value }) => value === values[0])) continue;
      else control.value = values[0];
    }
    const isRadio = controls[0].type === "radio";
    if (isRadio && !controls.some(({ checked }) => checked)) controls.forEach(setDefault);
  }
}
